package measure
import ("testing";"context";"time")
func BenchmarkFill(b *testing.B){ bb,_:=New(b.TempDir(),"","x"); for range b.N { at:=time.Now(); if err:=bb.fill(context.Background(), bb.path(), 100000); err!=nil {b.Fatal(err)}; b.Log(time.Since(at)) } }
