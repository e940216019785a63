package config
import ("testing";"bytes";"fmt";"time")
func TestZZ(t *testing.T){
 for _, l := range [][2]string{{"[nothing]\n","k%d=1\n"},{"[nothing]\n","k%d.a=1\n"},{"[nothing]\n","k%d={a=1}\n"},{"x=[","{a%d={b=1}},"},{"","[[forge]]\nhost='h%d'\ntype='gitea'\n"},{"x.","a.b%d=1\nx."},{"[[hook]]\n","[[hook.t]]#%d\n"}, {"x=1\n", "[[hook]]\nname='%d'\n"}} {
  var b bytes.Buffer; b.WriteString(l[0])
  for i:=0; b.Len()<maxFile-100; i++ { fmt.Fprintf(&b,l[1],i) }
  if l[0]=="x=[" {b.WriteString("]")}
  if l[0]=="x." {b.WriteString("q=1")}
  w:=newWorld(t); w.write(t,user,b.String())
  s:=time.Now(); _,err:=Load(w.Sources); n:=0
  if p,ok:=err.(*Problems);ok {n=len(p.List)}
  fmt.Printf("%q %v %d\n", l, time.Since(s), n)
 }}
