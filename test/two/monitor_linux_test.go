package two

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// numbers are the pull requests that both sides work on: names that hold one
// another must not be mixed up.
var numbers = []string{"1", "15", "5"}

// How the monitor goes about it: a look every period, and then so long at work.
const (
	period      = 300 * time.Millisecond
	monitorWork = 150 * time.Millisecond
	daemonWork  = 100 * time.Millisecond
)

// monitor starts the script and returns how to end it.
func (w *world) monitor(script string, args ...string) (stop func()) {
	w.t.Helper()
	path, err := filepath.Abs("testdata/" + script)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command(path, append(append([]string{fmt.Sprint(period.Seconds()), w.path("refused")}, args...), numbers...)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cmd.Process.Signal(unix.SIGTERM) //nolint:errcheck // it may have ended
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("%s: %v", script, err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

// unitMonitor starts the monitor that starts units.
func (w *world) unitMonitor() (stop func()) {
	return w.monitor("monitor.sh", worker, monitorSide, "NUMBER", "-", w.path("journal"), monitorWork.String(), "--")
}

// refused counts the monitor's starts that were refused.
func (w *world) refused() int {
	text, _ := os.ReadFile(w.path("refused"))
	return strings.Count(string(text), "\n")
}

// rounds has deliveries come for all pull requests at once, each at an offset of its
// own, and waits until each has had its run.
func (w *world) rounds(n int, offsets time.Duration) {
	w.t.Helper()
	seed := uint64(time.Now().UnixNano()) & 0xffffff
	if t, ok := w.t.(*testing.T); ok {
		seed = uint64(number(t, "ONESLOT_SEED", int(seed)+1))
	}
	w.t.Logf("ONESLOT_SEED=%d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	defer w.sample()()
	for range n {
		var wg sync.WaitGroup
		shas := make([]string, len(numbers))
		for i, number := range numbers {
			offset := time.Duration(draw.Int64N(int64(offsets)))
			wg.Go(func() {
				time.Sleep(offset)
				shas[i] = w.deliver(number)
			})
		}
		wg.Wait()
		for _, sha := range shas {
			if w.ended(sha); w.t.Failed() {
				return
			}
		}
	}
}

// judge checks what holds whatever the gates are, once the monitor has ended: every
// event has ended, and nothing was spent. It returns where both sides met.
func (w *world) judge(rounds int) []overlap {
	w.t.Helper()
	w.settled()
	w.spent()
	found := overlaps(w.journal())
	w.t.Logf("%d rounds: %d runs of the daemon, %d of the monitor (%d more were refused), %d overlaps", rounds,
		len(w.stints(daemonSide, "")), len(w.stints(monitorSide, "")), w.refused(), len(found))
	return found
}

// inWindow checks that the daemon came beside the monitor's work only if that had begun
// after the last peek. How often the monitor came beside the daemon's is its affair.
func (w *world) inWindow(found []overlap) {
	w.t.Helper()
	peeks := w.peeks()
	inside, theirs := 0, 0
	for _, o := range found {
		window, known := peeks[o.second.run]
		switch {
		case o.first.side == daemonSide && o.second.side == monitorSide:
			theirs++
		case known && o.first.side == monitorSide && o.first.start > window.peek:
			inside++
		default:
			w.t.Errorf("%v, and beside it %v, which was there at the last peek (%v)", o.second, o.first, window.peek)
		}
	}
	w.t.Logf("of the overlaps, %d began within the window, %d where the monitor came beside a run", inside, theirs)
}

// spent checks that no run was anything but a first attempt.
func (w *world) spent() {
	w.t.Helper()
	for _, s := range w.stints(daemonSide, "") {
		if s.attempt != "1" {
			w.t.Errorf("a deferral spent an attempt: %v was attempt %s", s, s.attempt)
		}
	}
}
