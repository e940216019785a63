package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

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
	changed map[slot.Ref]bool
	poke    chan struct{}
}

// showAfter is how long a change waits for the next one, showAgain how long what could
// not be shown waits for another try.
const (
	showAfter = 2 * time.Second
	showAgain = time.Minute
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
	t := &tickets{app: a, show: map[string]ticket.Ticket{}, memory: memory, log: log, changed: map[slot.Ref]bool{}, poke: make(chan struct{}, 1)}
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

// run shows what changes until ctx ends.
func (t *tickets) run(ctx context.Context) {
	if t == nil {
		return
	}
	open := t.open(ctx)
	for _, ref := range open {
		t.note(ref)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.poke:
		}
		if !pause(ctx, showAfter) {
			return
		}
		t.mu.Lock()
		refs := t.changed
		t.changed = map[slot.Ref]bool{}
		t.mu.Unlock()
		for ref := range refs {
			s, err := t.state(ctx, ref)
			if err == nil {
				err = t.showOne(ctx, ref, s, &open)
			}
			if err != nil && ctx.Err() == nil {
				t.log.Warn("a ticket could not be written; it is tried again", "ref", ref, "err", err)
				time.AfterFunc(showAgain, func() { t.note(ref) })
			}
		}
	}
}

func (t *tickets) showOne(ctx context.Context, ref slot.Ref, s ticket.State, open *[]slot.Ref) error {
	at, ok := t.show[ref.Host()]
	if !ok {
		return nil
	}
	if s.Word != ticket.Idle && !slices.Contains(*open, ref) { // first, so that it is not forgotten
		*open = append(*open, ref)
		if err := t.saveOpen(ctx, *open); err != nil {
			return err
		}
	}
	if err := at.Show(transport.ForOwner(ctx, ref.Owner()), ref, s); err != nil {
		return err
	}
	if i := slices.Index(*open, ref); s.Word == ticket.Idle && i >= 0 {
		*open = slices.Delete(*open, i, i+1)
		return t.saveOpen(ctx, *open)
	}
	return nil
}

func (t *tickets) open(ctx context.Context) (refs []slot.Ref) {
	text, err := t.memory.Cursor(ctx, openKey)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &refs)
	}
	if err != nil {
		t.log.Warn("which tickets are open is not known; each is mended by its next change", "err", err)
	}
	return refs
}

func (t *tickets) saveOpen(ctx context.Context, refs []slot.Ref) error {
	text, err := json.Marshal(refs)
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

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
