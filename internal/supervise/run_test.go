package supervise

import (
	"os"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func TestRunToTheEnd(t *testing.T) {
	for _, c := range []struct {
		name, script string
		code         int
		result       slot.Result
	}{
		{"exit 0 is done", "exit 0", 0, slot.Done},
		{"exit 3 is its own", "exit 3", 3, slot.Failed},
		{"a signal is 128 and more", "kill -9 $$", 137, slot.Failed},
		{"exit 75 is later", "exit 75", 75, slot.Later},
		{"non-zero beats done", `echo '{"outcome":"done"}' >$ONESLOT_RESULT; exit 1`, 1, slot.Failed},
		{"words beat exit 0", `echo '{"outcome":"later","retry_after":"7m"}' >$ONESLOT_RESULT`, 0, slot.Later},
		{"nonsense is told", `echo '{"outcome":17}' >$ONESLOT_RESULT`, 0, slot.Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", "echo out; echo err >&2; "+c.script)
			s := w.start(p)
			if got := s.code(); got != c.code {
				t.Fatalf("exit %d, want %d; stderr: %s", got, c.code, s.err.String())
			}
			if s.out.String() != "out\n" || s.err.String() != "err\n" {
				t.Errorf("printed %q and %q", s.out.String(), s.err.String())
			}
			if r := w.report(); !r.Ran || r.Outcome != c.result {
				t.Errorf("report %+v", r)
			} else if c.name == "nonsense is told" && (r.Reason == nil || !strings.Contains(*r.Reason, "outcome")) {
				t.Errorf("reason %v", r.Reason)
			}
			if end := w.slot(p); !end.Ended || end.Outcome.Result != c.result {
				t.Errorf("the claim: %+v", end)
			}
		})
	}
}

// A rehearsal leaves nothing behind, and the run after it is as any other.
func TestRehearse_ThenRun(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	w := newWorld(t)
	p := w.plan("sh", "-c", "echo out")
	p.Rehearse = true
	s := w.start(p)
	if got := s.code(); got != 0 || s.out.String() != "out\n" {
		t.Fatalf("exit %d, printed %q; stderr: %s", got, s.out.String(), s.err.String())
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left in %s: %v, %v", tmp, left, err)
	}
}
