package two

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The sides.
const (
	daemonSide  = "daemon"
	monitorSide = "monitor"
	machineSide = "machine" // nobody: how fast the machine is
)

// stint is one worker's time at work.
type stint struct {
	side, number, sha, run, attempt string
	pid                             int
	start, end                      time.Duration // end is 0 while it works
}

func (s stint) String() string {
	return fmt.Sprintf("%s's work on #%s from %v to %v (run %s)", s.side, s.number, s.start, s.end, s.run)
}

// journal reads what all workers wrote, in the order of their starts.
func journal(t testing.TB, path string) []stint {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []stint
	open := map[string]int{} // by side and pid
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var s stint
		var event string
		var at time.Duration
		if _, err := fmt.Sscan(line, (*int64)(&at), &event, &s.side, &s.number, &s.sha, &s.pid, &s.run, &s.attempt); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		key := fmt.Sprint(s.side, s.number, s.sha, s.pid, s.run)
		if event == "start" {
			s.start = at
			open[key] = len(all)
			all = append(all, s)
		} else if i, ok := open[key]; ok {
			all[i].end = at
			delete(open, key)
		}
	}
	slices.SortFunc(all, func(a, b stint) int { return cmp.Compare(a.start, b.start) })
	return all
}

// overlap is two workers on one pull request at a time: the second came beside the
// first.
type overlap struct{ first, second stint }

// overlaps finds all of them.
func overlaps(all []stint) (found []overlap) {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.number == b.number && (a.end == 0 || b.start < a.end) {
				found = append(found, overlap{a, b})
			}
		}
	}
	return found
}

// quantiles describes some times.
func quantiles(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	s := slices.Sorted(slices.Values(d))
	tenth := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	return fmt.Sprintf("n=%d min=%v p50=%v p99=%v max=%v", len(s), tenth(s[0]), tenth(at(s, 50)), tenth(at(s, 99)), tenth(s[len(s)-1]))
}

// at is the p-th percentile of sorted times.
func at(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
