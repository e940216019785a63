package two

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"
)

// window is the part of the daemon in the time in which somebody else can start unseen:
// from its last look to the hand-over to the supervisor, in boot time. It goes on to
// the worker's first instruction.
type window struct{ peek, handed time.Duration }

// peeks reads from the daemon's log when it looked for the last time before each start,
// by run.
func (w *world) peeks() map[string]window {
	w.t.Helper()
	text, err := os.ReadFile(w.path("log"))
	if err != nil {
		w.t.Fatal(err)
	}
	zero := time.Now().Add(-boot())
	at := map[string]window{}
	for line := range strings.Lines(string(text)) {
		var l struct {
			Time      time.Time
			Msg, Run  string
			SincePeek time.Duration `json:"since_peek"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "started" {
			handed := l.Time.Sub(zero)
			at[l.Run] = window{peek: handed - l.SincePeek, handed: handed}
		}
	}
	return at
}

// shortWindow checks how long it takes from the last look to the first instruction of
// the worker.
func (w *world) shortWindow() {
	w.t.Helper()
	var handed, whole []time.Duration
	peeks := w.peeks()
	for _, s := range w.stints(daemonSide, "") {
		at, ok := peeks[s.run]
		if !ok {
			w.t.Errorf("the log has no peek for %v", s)
			continue
		}
		handed = append(handed, at.handed-at.peek)
		whole = append(whole, s.start-at.peek)
	}
	w.within(50*time.Millisecond, "from the last peek to the hand-over", handed)
	w.within(50*time.Millisecond, "from the last peek to the worker's first instruction", whole)
}

// waits are how long each start of the daemon's took, counted from when its event was
// wanted (accepted, and quiet over) or from the end of the other side's work, if that was
// later. free says which of both.
func (w *world) waits(quiet time.Duration) (free, freed []time.Duration) {
	w.t.Helper()
	all := w.journal()
	for _, s := range all {
		if s.side != daemonSide {
			continue
		}
		due, waited := w.sent[s.sha]+quiet, false
		for _, other := range all {
			if other.side != daemonSide && other.number == s.number && other.end != 0 && other.end <= s.start && other.end > due {
				due, waited = other.end, true
			}
		}
		if waited {
			freed = append(freed, s.start-due)
		} else {
			free = append(free, s.start-due)
		}
	}
	return free, freed
}

// usual is how long a machine may take from fork to the first instruction of a worker
// for the bounds to hold as they are written.
const usual = 10 * time.Millisecond

// sample measures every so often how long the machine itself takes to start a worker,
// until the returned function is called.
func (w *world) sample() (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			asked := boot()
			if err := w.command(worker, machineSide, "0", "-", w.path("machine"), "0s").Run(); err != nil {
				w.t.Error(err)
				return
			}
			all := journal(w.t, w.path("machine"))
			w.mu.Lock()
			w.machine = append(w.machine, all[len(all)-1].start-asked)
			w.mu.Unlock()
			select {
			case <-end:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() { close(end); <-done }
}

// within checks that 99 of 100 keep a bound, and says so beside the machine's own figure.
// On a machine that is slower than usual, or busy with other things, half of them
// have to keep it, times as much as it is slower.
func (w *world) within(most time.Duration, what string, list []time.Duration) {
	w.t.Helper()
	w.mu.Lock()
	own := slices.Sorted(slices.Values(w.machine))
	w.mu.Unlock()
	w.t.Logf("%s: %s (fork to first instruction: %s)", what, quantiles(list), quantiles(own))
	if len(own) == 0 || len(list) == 0 {
		w.t.Errorf("%s: nothing was measured", what)
		return
	}
	p := 99
	if slow := at(own, 90); slow > usual {
		p, most = 50, most/usual*slow
	}
	if got := at(slices.Sorted(slices.Values(list)), p); got > most {
		w.t.Errorf("%s: p%d is %v, more than %v", what, p, got, most)
	}
}
