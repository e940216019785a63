package reserve

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
)

// Whoever looks at a record does not hide it from those who have to end it.
func TestClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		ids, err := r.dir.ids()
		if err != nil || len(ids) != 1 {
			t.Fatal(ids, err)
		}
		e, err := r.dir.open(ids[0])
		if err != nil {
			t.Fatal(err)
		}
		defer e.close()
		if got, err := again(t, th, r).Claims(); err != nil || !slices.Equal(got, []string{e.Claim}) {
			t.Errorf("%q, %v", got, err)
		}
		if err := os.WriteFile(filepath.Join(r.o.Dir, "aaa"+suffix), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Claims(); err == nil || len(got) != 1 {
			t.Errorf("half a record: %q, %v", got, err)
		}
	})
}
