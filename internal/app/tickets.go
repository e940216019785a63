package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/ticket"
)

// tickets show on the forge how the work on each ref stands. Whatever changes is
// noted, and shown a little later: a burst is one edit.
type tickets struct {
	app    *App
	show   map[string]ticket.Ticket // by host
	memory ticket.Memory
	log    *slog.Logger

	mu      sync.Mutex
	changed map[slot.Ref]bool // until it is shown
	poke    chan struct{}
	ended   chan struct{} // closed when run has ended

	// Of run alone.
	open    []slot.Ref // those that do not say idle
	failing map[slot.Ref]failing
}

// failing is a ticket that could not be shown.
type failing struct {
	tries int
	until time.Duration // boot time of the next one
}

const (
	// showAfter is how long a change waits for the next one.
	showAfter = 2 * time.Second
	// What could not be shown waits for another try, each time in a row for twice as
	// long; after some days of it only a change is one.
	showAgain = time.Minute
	showMost  = time.Hour
	showTries = 7 * 24
	// goneTries, about an hour, is how often an issue must not be there before it counts
	// as deleted.
	goneTries = 6
	// compareEvery is how often open tickets are compared with what is: other processes
	// may have changed that.
	compareEvery = 5 * time.Minute
)

// openKey is where the memory has the refs whose ticket does not say idle: they are
// looked at after a restart, for nobody told of what changed meanwhile.
const openKey = "tickets"

// ticketsOf makes them, if the configuration wants them; nil if not.
func (a *App) ticketsOf(cfg *config.Config, all forges, log *slog.Logger) *tickets {
	memory, ok := a.Store.(ticket.Memory)
	form := ticket.Form(cfg.Reservation.Ticket.V)
	if !ok || form != ticket.AsComment && form != ticket.AsLabel {
		return nil
	}
	t := &tickets{
		app: a, show: map[string]ticket.Ticket{}, memory: memory, log: log,
		changed: map[slot.Ref]bool{}, poke: make(chan struct{}, 1), ended: make(chan struct{}), failing: map[slot.Ref]failing{},
	}
	for host, c := range all.at {
		t.show[host] = ticket.Ticket{Form: form, Thread: c, Memory: memory}
	}
	return t
}

// ticketLabels are the labels that oneslot sets itself.
func ticketLabels(cfg *config.Config) []string {
	if ticket.Form(cfg.Reservation.Ticket.V) != ticket.AsLabel {
		return nil
	}
	return ticket.Labels()
}

// note says that something about a ref is not as it was.
func (t *tickets) note(ref slot.Ref) {
	if t == nil || ref.Kind() != slot.RefIssue && ref.Kind() != slot.RefMerge {
		return
	}
	t.mu.Lock()
	t.changed[ref] = true
	t.mu.Unlock()
	select {
	case t.poke <- struct{}{}:
	default:
	}
}

// run shows what changes until ctx ends. What those of before, if any, had not shown
// when they were told to end is gone on with.
func (t *tickets) run(ctx context.Context, before *tickets) {
	if t == nil {
		return
	}
	defer close(t.ended)
	if before != nil {
		<-before.ended
		for ref := range before.changed {
			t.note(ref)
		}
	}
	t.open = t.opened(ctx)
	again, compare := time.NewTicker(showAgain), time.NewTicker(compareEvery)
	defer again.Stop()
	defer compare.Stop()
	t.noteOpen()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C: // what failed may be due
		case <-compare.C:
			t.noteOpen()
		case <-t.poke:
			if clock.Pause(ctx, showAfter) != nil {
				return
			}
		}
		t.showAll(ctx)
	}
}

func (t *tickets) noteOpen() {
	for _, ref := range t.open {
		t.note(ref)
	}
}

// showAll shows what has changed, but for what failed just now.
func (t *tickets) showAll(ctx context.Context) {
	t.mu.Lock()
	refs := slices.Collect(maps.Keys(t.changed))
	t.mu.Unlock()
	for _, ref := range refs {
		f := t.failing[ref]
		if ctx.Err() != nil {
			return
		}
		if t.app.Clock.Boot() < f.until {
			continue
		}
		t.mark(ref, false) // a change from here on is another one
		s, err := t.state(ctx, ref)
		if err == nil {
			err = t.showOne(ctx, ref, s)
		}
		delete(t.failing, ref)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			t.mark(ref, true)
		case f.tries >= showTries, f.tries >= goneTries && errors.Is(err, ticket.ErrGone):
			t.failing[ref] = failing{f.tries, t.app.Clock.Boot() + showMost} // a change is no reason to try sooner
			t.log.Warn("a ticket could not be written, and is given up", "ref", ref, "err", errors.Join(err, t.close(ctx, ref)))
		default:
			wait := min(showAgain<<min(f.tries, 10), showMost)
			t.failing[ref] = failing{f.tries + 1, t.app.Clock.Boot() + wait}
			t.mark(ref, true)
			t.log.Warn("a ticket could not be written; it is tried again", "ref", ref, "in", wait, "err", err)
		}
	}
}

func (t *tickets) mark(ref slot.Ref, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if changed {
		t.changed[ref] = true
	} else {
		delete(t.changed, ref)
	}
}

func (t *tickets) showOne(ctx context.Context, ref slot.Ref, s ticket.State) error {
	at, ok := t.show[ref.Host()]
	if !ok {
		return nil
	}
	if s.Word != ticket.Idle && !slices.Contains(t.open, ref) { // first, so that it is not forgotten
		t.open = append(t.open, ref)
		if err := t.saveOpen(ctx); err != nil {
			return err
		}
	}
	now, err := t.app.Names.Current(ctx, ref) // an app is installed at the owner of now
	if err != nil {
		return err
	}
	err = at.Show(transport.ForOwner(ctx, now.Owner()), ref, s)
	if err != nil || s.Word != ticket.Idle {
		return err
	}
	return t.close(ctx, ref)
}

// close takes a ref from those whose ticket is open.
func (t *tickets) close(ctx context.Context, ref slot.Ref) error {
	i := slices.Index(t.open, ref)
	if i < 0 {
		return nil
	}
	t.open = slices.Delete(t.open, i, i+1)
	return t.saveOpen(ctx)
}

// opened reads which are open.
func (t *tickets) opened(ctx context.Context) (refs []slot.Ref) {
	text, err := t.memory.Cursor(ctx, openKey)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &refs)
	}
	if err != nil {
		t.log.Warn("which tickets are open is not known; each is mended by its next change", "err", err)
	}
	return refs
}

func (t *tickets) saveOpen(ctx context.Context) error {
	text, err := json.Marshal(t.open)
	if err != nil {
		return err
	}
	return t.memory.SetCursor(ctx, openKey, string(text))
}

// state is how the work on a ref stands, by all its rules.
func (t *tickets) state(ctx context.Context, ref slot.Ref) (s ticket.State, err error) {
	look, err := t.app.Store.Look(ctx, ref)
	if err != nil {
		return s, err
	}
	items, err := t.app.Queue.Items(ctx, queue.Filter{Ref: ref})
	if err != nil {
		return s, err
	}
	return stateOf(look.Live(), items), nil
}

// stateOf chooses the one state that people need to know: what runs, before what
// waits for them, before what waits.
func stateOf(live *slot.Claim, items []queue.Item) ticket.State {
	if live != nil && live.Kind == slot.Waiting {
		return ticket.State{Word: ticket.Person, Because: "the worker waits for somebody"}
	}
	if live != nil {
		return ticket.State{Word: ticket.Running}
	}
	s := ticket.State{Word: ticket.Idle}
	for _, it := range items {
		switch {
		case it.State == queue.Dead:
			return ticket.State{Word: ticket.Person, Because: it.Reason}
		case it.State == queue.Pending && !it.Deferred.IsZero():
			s = ticket.State{Word: ticket.Deferred, Because: it.Reason}
		case it.State == queue.Pending && s.Word == ticket.Idle:
			s = ticket.State{Word: ticket.Queued}
		}
	}
	return s
}
