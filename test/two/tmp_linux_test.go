package two

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/oneslot/oneslot/test/rig"
)

func TestTmpWindow(t *testing.T) {
	s := rig.StartSystemd(t)
	def := program
	for range 3 {
		for _, p := range []string{def, os.Getenv("TWO_PROGRAM")} {
			program = p
			w := newWorld(t, s.Env(), unitGate, "0s", time.Millisecond)
			w.serve()
			stop := w.sample()
			for range 25 {
				w.ended(w.deliver("1"))
				time.Sleep(150 * time.Millisecond)
			}
			stop()
			l := slices.Sorted(slices.Values(w.windows()))
			m := slices.Sorted(slices.Values(w.machine))
			free, _ := w.waits(0)
			t.Logf("%s: window p10=%v p50=%v; sent to first p50=%v; machine p10=%v p50=%v", p, at(l, 10), at(l, 50), at(slices.Sorted(slices.Values(free)), 50), at(m, 10), at(m, 50))
			time.Sleep(200 * time.Millisecond)
		}
	}
}
