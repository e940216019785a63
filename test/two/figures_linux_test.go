package two

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"
)

// peeks reads from the daemon's log when it looked for the last time before each
// start, in boot time, by run.
func (w *world) peeks() map[string]time.Duration {
	w.t.Helper()
	text, err := os.ReadFile(w.path("log"))
	if err != nil {
		w.t.Fatal(err)
	}
	zero := time.Now().Add(-boot())
	at := map[string]time.Duration{}
	for line := range strings.Lines(string(text)) {
		var l struct {
			Time      time.Time
			Msg, Run  string
			SincePeek time.Duration `json:"since_peek"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "started" {
			at[l.Run] = l.Time.Sub(zero) - l.SincePeek
		}
	}
	return at
}

// windows are the times from the last look to the first instruction of the worker.
func (w *world) windows() (list []time.Duration) {
	w.t.Helper()
	peeks := w.peeks()
	for _, s := range w.stints(daemonSide, "") {
		peek, ok := peeks[s.run]
		if !ok {
			w.t.Errorf("the log has no peek for %v", s)
			continue
		}
		list = append(list, s.start-peek)
	}
	return list
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

// within checks that a time is kept by all.
func (w *world) within(most time.Duration, what string, list []time.Duration) {
	w.t.Helper()
	w.t.Logf("%s: %s", what, quantiles(list))
	if len(list) > 0 && slices.Max(list) > most {
		w.t.Errorf("%s: more than %v", what, most)
	}
}
