package race

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	stormSize    = 1000 // deliveries
	stormClients = 8
)

// C43, P5: deliveries for one ref during a run, every fifth of them sent twice, by
// webhook, command line and API from eight connections, lead to exactly one more
// run, which is told of all of them, the newest payload last.
func TestStorm_OneFollowUp(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	acks := s.blow(stormSize, nil)
	s.calm()
	s.verdict(acks)
}

// C24, C25, P4, P5: the same when the daemon is killed in the middle of it. What it
// had not acknowledged is sent again, as forges do.
func TestStorm_KilledInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	acks := s.blow(stormSize, func() {
		s.kill()
		s.serve()
	})
	s.calm()
	s.verdict(acks)
}

// The twin: when the run ends in the middle of the storm, what comes after it
// cannot be told to the same follow-up, and the verdict sees that.
func TestStorm_EndsInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	acks := s.blow(stormSize/10, func() {
		touch(t, s.path("go"))
		s.drained(s.ref)
	})
	s.calm()
	if s.faults(acks) == nil {
		t.Error("a second follow-up was not seen")
	}
}

// storm is a run under way, about whose ref everybody has something to say.
type storm struct {
	*daemons
	ref slot.Ref
}

func newStorm(t *testing.T) *storm {
	d := newDaemons(t, plainProgram, nameVar+"=storm", endVar+"=1")
	d.env = append(d.env, untilVar+"="+d.path("go"))
	r, err := slot.ParseCanonical("github.com/octo-org/octo-repo#12")
	if err != nil {
		t.Fatal(err)
	}
	s := &storm{d, r}
	s.serve()
	s.wish((*daemons).byAPI, r, "first")
	s.started("storm")
	return s
}

// blow sends n deliveries, a fifth of them copies of others; middle is done when
// half of them are acknowledged. Then comes the last one.
func (s *storm) blow(n int, middle func()) []ack {
	var mu sync.Mutex
	var acks []ack
	var next, answered atomic.Int64
	half := make(chan struct{})
	var clients sync.WaitGroup
	for range stormClients {
		clients.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				a := s.wish(stormPath(i), s.ref, stormName(i))
				mu.Lock()
				acks = append(acks, a)
				mu.Unlock()
				if answered.Add(1) == int64(n)/2 {
					close(half)
				}
			}
		})
	}
	if middle != nil {
		<-half
		middle()
	}
	clients.Wait()
	return append(acks, s.wish((*daemons).byWebhook, s.ref, "last"))
}

// stormName names the i-th delivery: every fifth is the copy of the one before.
func stormName(i int64) string {
	if i%5 == 4 {
		i--
	}
	return fmt.Sprintf("storm-%d", i)
}

// stormPath is the way of the i-th delivery, and of its copy.
func stormPath(i int64) path {
	switch i % 20 {
	case 0:
		return (*daemons).byDispatch
	case 1, 2, 8, 9, 15, 16:
		return (*daemons).byAPI
	}
	return (*daemons).byWebhook
}

// calm lets the run end, and what follows from the storm.
func (s *storm) calm() {
	touch(s.t, s.path("go"))
	s.drained(s.ref)
	s.end()
	s.gone()
}

func (s *storm) verdict(acks []ack) {
	s.t.Helper()
	for _, f := range s.faults(acks) {
		s.t.Error(f)
	}
}

// faults says in what the storm did not lead to one follow-up about all of it.
func (s *storm) faults(acks []ack) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	lines := s.fresh()
	p := s.past(s.ref, lines, acks, true)
	faults = append(judge(lines), p.judge()...)
	names := map[string]bool{"first": true}
	for _, a := range acks {
		names[a.name] = true
	}
	if len(p.events) != len(names) {
		fault("%d wishes, %d events", len(names), len(p.events))
	}
	if len(p.runs) != 2 || len(p.starts) != 2 {
		fault("P5: %d runs, %d workers; want the run and its follow-up", len(p.runs), len(p.starts))
		return faults
	}
	var ids []string
	for _, e := range p.events[1:] {
		ids = append(ids, e.ID)
	}
	follow := p.runs[1]
	if got := p.starts[follow.ID].Told; !slices.Equal(got, ids) {
		fault("P5: the follow-up was told of %d events, want %d", len(got), len(ids))
	}
	return append(faults, s.newest(follow, p.events[len(p.events)-1])...)
}

// newest looks at the last thing that a run was told.
func (s *storm) newest(run slot.Run, e queue.Record) (faults []string) {
	data, err := os.ReadFile(rundir.At(run.Dir).EventsPath())
	if err != nil {
		return []string{err.Error()}
	}
	var events []struct {
		ID      string
		Payload json.RawMessage
	}
	if err := json.Unmarshal(data, &events); err != nil {
		return []string{err.Error()}
	}
	last := events[len(events)-1]
	want, err := s.db.Queue().Delivery(s.ctx, e.Delivery)
	if err != nil {
		return []string{err.Error()}
	}
	if last.ID != e.ID || want.GUID != "last" || !bytes.Equal(last.Payload, want.Body) || len(want.Body) == 0 {
		return []string{fmt.Sprintf("P5: the last payload is that of %s (delivery %q): %.200s", last.ID, want.GUID, last.Payload)}
	}
	return nil
}
