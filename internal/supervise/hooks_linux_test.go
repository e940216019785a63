//go:build oneslot_hooks

package supervise

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/oneslot/oneslot/internal/failpoint"
)

// A supervisor killed at any moment leaves nothing that the next one does not
// find: never two workers at once, no forgotten tree, no run left open.
func TestKilledAnywhere(t *testing.T) {
	for _, name := range []string{
		failpoint.AfterToken, failpoint.BeforeFork, failpoint.AfterFork, failpoint.BeforeIdentity,
		failpoint.AfterExit, failpoint.AfterOutcome, failpoint.BeforeRelease, failpoint.AfterRelease,
	} {
		for _, warden := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " with a warden"}[warden], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				p := w.plan("sh", "-c", `mkdir busy || exit 99; setsid sleep 600 & sleep 0.3`)
				p.Warden = warden
				a := w.start(p, "ONESLOT_FAILPOINT="+name)
				if got := a.code(); got != -int(syscall.SIGKILL) {
					t.Fatalf("was not killed: exit %d, %s", got, a.err.String())
				}
				mark := "ONESLOT_RUN=" + w.slot(p).Run
				q := w.plan("sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '"+mark+"$'; exit 0")
				b := w.start(q)
				if got := b.code(); got != 0 || strings.TrimSpace(b.out.String()) != "0" {
					t.Errorf("the next one: exit %d, saw %q of the old run; %s", got, b.out.String(), b.err.String())
				}
				w.settled(q)
			})
		}
	}
}

// A contender that is killed while it cleans leaves the rest to the next one.
func TestKilledWhileCleaning(t *testing.T) {
	for _, name := range []string{failpoint.BetweenSignals, failpoint.AfterTreeGone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", `trap "" TERM; setsid sleep 600 & sleep 600`)
			a := w.start(p)
			w.identity(p)
			mark := "ONESLOT_RUN=" + w.slot(p).Run
			until(t, "the tree", func() bool { return len(marked(mark)) >= 3 })
			a.Process.Kill()
			<-a.done
			b := w.start(w.plan("true"), "ONESLOT_FAILPOINT="+name)
			if got := b.code(); got != -int(syscall.SIGKILL) {
				t.Fatalf("was not killed: exit %d, %s", got, b.err.String())
			}
			c := w.start(w.plan("true"))
			if got := c.code(); got != 0 {
				t.Errorf("the next one: exit %d; %s", got, c.err.String())
			}
			if left := marked(mark); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			w.settled(p)
		})
	}
}

// settled checks that nothing is open any more, in the journal and on disk.
func (w *world) settled(p plan) {
	w.t.Helper()
	open, err := w.db.OpenRuns(context.Background(), p.ref())
	if err != nil || len(open) > 0 {
		w.t.Errorf("open runs: %+v, %v", open, err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "state", "live", p.ref().Slug())); len(left) > 0 {
		w.t.Errorf("registry: %v", left)
	}
	if c := w.slot(p); !c.Ended {
		w.t.Errorf("held: %+v", c)
	}
}
