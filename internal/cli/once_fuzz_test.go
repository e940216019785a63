package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A result that somebody else wrote into the run's folder is taken as it is, or
// refused; its exit code is always one.
func FuzzOnceSeal(f *testing.F) {
	f.Add([]byte(`{"code":0,"over":false}`))
	f.Add([]byte(`{"code":255,"over":true}`))
	f.Add([]byte(`{"code":-1}`))
	f.Add([]byte(`{"code":1e9}`))
	f.Add([]byte(`{"code":"0"}`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, onceSeal), data, 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := readResult(dir)
		if (res == nil) == (err == nil) {
			t.Fatalf("%q: %+v, %v; want one of both", data, res, err)
		}
		if res != nil && (res.Code < 0 || res.Code > 255) {
			t.Errorf("%q: exit code %d", data, res.Code)
		}
	})
}
