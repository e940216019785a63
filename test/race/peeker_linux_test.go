package race

import (
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// The twins: dispatchers that look before they start, as most do, and take
// nothing. What a test of the real ones asserts must fail for them.

// peekers is several of them, at the same moment.
type peekers struct {
	*world
	// free looks at a slot. It may be the program's own peek: it is the gap
	// between look and start that is wrong.
	free func(slot.Ref) bool
}

// peeks asks the program.
func (w *world) peeks(r slot.Ref) bool {
	code, _ := w.do(job{args: []string{"peek", "-q", r.String()}})
	return code == 0
}

// race has n dispatchers look for the first free one of the refs, all before
// any of them starts its worker. It gives what each one took.
func (p peekers) race(n int, refs []slot.Ref) (taken []slot.Ref) {
	var looked, over sync.WaitGroup
	var mu sync.Mutex
	looked.Add(n)
	for range n {
		over.Go(func() {
			for _, r := range refs {
				if !p.free(r) {
					continue
				}
				looked.Done()
				looked.Wait()
				p.startBeside(r)
				mu.Lock()
				defer mu.Unlock()
				taken = append(taken, r)
				return
			}
			looked.Done()
		})
	}
	over.Wait()
	return taken
}

// startBeside starts a worker without a claim, and waits for its end.
func (w *world) startBeside(r slot.Ref) {
	cmd := exec.Command(helperProgram)
	now := boot()
	cmd.Env = append(work(plain, 300*time.Millisecond), roleVar+"=worker", worldVar+"="+w.dir,
		"ONESLOT_SLUG="+r.Slug(), "ONESLOT_RUN="+claim.NewID(), "ONESLOT_FENCE="+strconv.FormatInt(int64(now), 10),
		spawnedVar+"="+strconv.FormatInt(int64(now), 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("a worker without a claim: %v\n%s", err, out)
	}
}

// caught requires that the judge finds fault.
func (w *world) caught(what string) {
	w.t.Helper()
	faults := judge(w.fresh())
	if len(faults) == 0 {
		w.t.Errorf("%s was not caught", what)
		return
	}
	w.t.Logf("%s was caught: %s", what, faults[0])
}

// clean requires that it finds none.
func (w *world) clean() []line {
	w.t.Helper()
	lines := w.fresh()
	for _, f := range judge(lines) {
		w.t.Error(f)
	}
	return lines
}

func starts(lines []line) (n int) {
	for _, l := range lines {
		if l.Event == "start" {
			n++
		}
	}
	return n
}

func refs(t testing.TB, n int) (all []slot.Ref) {
	t.Helper()
	for i := range n {
		all = append(all, ref(t, "n"+strconv.Itoa(i)))
	}
	return all
}
