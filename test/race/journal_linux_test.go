package race

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// line is what one process of a worker's tree did at one moment.
type line struct {
	Event   string        `json:"e"` // start, beat, end
	At      time.Duration `json:"at"`
	Slot    string        `json:"slot"`
	Run     string        `json:"run"`
	Fence   int64         `json:"fence"`
	Name    string        `json:"name,omitempty"`
	PID     int           `json:"pid"`
	Spawned time.Duration `json:"spawned"`          // its oneslot
	Others  []string      `json:"others,omitempty"` // who else was on the slot at the start

	// Of a run of the queue, at its start.
	Told    []string `json:"told,omitempty"` // the events, oldest first
	Attempt int      `json:"attempt,omitempty"`
}

// append writes the line as one write.
func (l line) append(w io.Writer) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// readJournal reads the lines from offset on, and says how far it came.
func readJournal(path string, offset int64) ([]line, int64, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, offset, nil
	}
	if err != nil {
		return nil, offset, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, err
	}
	var all []line
	r := bufio.NewReader(f)
	for {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return all, offset, nil // the rest is being written
		}
		if err != nil {
			return all, offset, err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return all, offset, fmt.Errorf("%q: %w", text, err)
		}
		offset += int64(len(text))
		all = append(all, l)
	}
}

// grant is one claim of a slot: taken some time between from and to.
type grant struct {
	slot     string
	who      string
	fence    int64
	from, to time.Duration
	// The work under it: from the first to the last sign of life.
	first, last time.Duration
}

// grants gathers what the journal has of each run, in the order of their starts.
// A run whose worker was ended before its first line is not among them.
func grants(lines []line) []grant {
	byRun := map[string]*grant{}
	for _, l := range lines {
		g := byRun[l.Run]
		if g == nil {
			g = &grant{slot: l.Slot, who: l.Run, fence: l.Fence, from: l.Spawned, first: l.At}
			byRun[l.Run] = g
		}
		g.first, g.last = min(g.first, l.At), max(g.last, l.At)
		g.to = g.first
	}
	var all []grant
	for _, g := range byRun {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b grant) int { return cmp.Compare(a.first, b.first) })
	return all
}

// judge says what is wrong with what happened: two at once on one slot (P1, P11),
// or fences that do not grow (P2).
func judge(lines []line, more ...grant) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	for _, l := range lines {
		if len(l.Others) > 0 {
			fault("P1, P11: on %s run %s (fence %d) began at %v beside %s", l.Slot, l.Run, l.Fence, l.At, strings.Join(l.Others, ", "))
		}
	}
	all := append(grants(lines), more...)
	for i, a := range all {
		for j, b := range all {
			if i == j || a.slot != b.slot {
				continue
			}
			if a.first <= b.first && (a.first < b.first || i < j) && b.first <= a.last {
				fault("P1, P11: on %s %s (fence %d) showed life at %v, after the first of %s (fence %d) at %v",
					a.slot, a.who, a.fence, a.last, b.who, b.fence, b.first)
			}
			if a.to < b.from && a.fence >= b.fence || i < j && a.fence == b.fence {
				fault("P2: on %s the fence %d of %s was followed by %d of %s", a.slot, a.fence, a.who, b.fence, b.who)
			}
		}
	}
	return faults
}

// The judge sees what it is there for, and nothing else.
func TestJudge(t *testing.T) {
	at := func(event, run string, fence int64, spawned, at time.Duration) line {
		return line{Event: event, Slot: "s", Run: run, Fence: fence, Spawned: spawned, At: at}
	}
	first := []line{at("start", "a", 5, 0, 10), at("beat", "a", 5, 0, 20)}
	for _, tt := range []struct {
		name  string
		lines []line
		more  []grant
		want  string
	}{
		{"one after the other", append(first, at("start", "b", 6, 5, 21)), nil, ""},
		{"another slot", append(first, line{Event: "start", Slot: "s2", Run: "b", Fence: 2, At: 15}), nil, ""},
		{"both at once", append(first, at("start", "b", 6, 5, 19)), nil, "P1"},
		{"a remnant wakes up", append(first, at("start", "b", 6, 5, 21), at("beat", "a", 5, 0, 30)), nil, "P1"},
		{"seen at the start", append(first, line{Event: "start", Slot: "s", Run: "b", Fence: 6, At: 21, Others: []string{"9"}}), nil, "P1"},
		{"the fence stays", append(first, at("start", "b", 5, 11, 21)), nil, "P2"},
		{"the fence goes back", append(first, at("start", "b", 4, 11, 21)), nil, "P2"},
		{"asked for before the other began", append(first, at("start", "b", 4, 9, 21)), nil, ""},
		{"work under a claim of its own", first, []grant{{slot: "s", fence: 6, from: 12, to: 14, first: 14, last: 30}}, "P1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(judge(tt.lines, tt.more...), "; ")
			if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
}
