package poll

import (
	"context"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// batch bounds how much is handed on at once.
const batch = 200

// pass is one tick of a repository. What it found is handed on first, and remembered
// only when that was taken.
type pass struct {
	*repo
	ctx context.Context
	o   *Options
	now time.Time

	watched, wanted set // what may change without a trace; and all

	found []Found
	then  []func()
	done  map[slot.Ref]bool // those that need no second look in this pass

	change slot.Ref // of whom it is now read what changed; zero: of none
}

// add notes what was found, if anybody wants it.
func (p *pass) add(f Found) {
	if f.Rule != "" || p.o.Wants(f.Kind) {
		p.found = append(p.found, f)
	}
}

func (p *pass) wants(kinds ...slot.EventKind) bool { return slices.ContainsFunc(kinds, p.o.Wants) }

// after has do done when all that was found so far is on disk.
func (p *pass) after(do func()) { p.then = append(p.then, do) }

// flush hands on what was found.
func (p *pass) flush() error {
	slices.SortStableFunc(p.found, func(a, b Found) int { return rank(a) - rank(b) })
	for part := range slices.Chunk(p.found, batch) {
		if err := p.o.Sink.Accept(p.ctx, part); err != nil {
			p.found, p.then = nil, nil
			return err
		}
	}
	for _, do := range p.then {
		do()
	}
	p.found, p.then = nil, nil
	return nil
}

// save keeps the place on disk. What is behind it was taken by the sink.
func (p *pass) save() error {
	if p.o.Cursors == nil || !p.moved {
		return nil
	}
	text := p.place.text(p.Name)
	if text == p.onDisk {
		return nil
	}
	if err := p.o.Cursors.SetCursor(p.ctx, p.key, text); err != nil {
		return err
	}
	p.onDisk, p.moved = text, false
	return nil
}

// did notes that a thread was looked at in this pass.
func (p *pass) did(ref slot.Ref) { p.done[ref] = true }

// full hands on early what has become much.
func (p *pass) full() error {
	if len(p.found) < batch {
		return nil
	}
	return p.flush()
}

// rank puts changes that a person asked for before all else, and those of bots last.
func rank(f Found) int {
	switch {
	case f.Kind != slot.ChangesRequested:
		return 1
	case f.Facts.Bot:
		return 2
	}
	return 0
}

// event is one about a thread.
func (p *pass) event(t *thread, kind slot.EventKind, fingerprint string) Found {
	return Found{Event: slot.Event{
		Path: slot.PathPoll, Repo: t.ref.Repo(), Ref: t.ref, Kind: kind, Sha: t.sha,
		Fingerprint: fingerprint, Facts: t.known(p.Public),
	}}
}

// by notes who caused an event.
func by(f *slot.Facts, who forge.Person) {
	f.Actor, f.Bot, f.App, f.Association = mark.Line(who.Login), who.Bot, mark.Line(who.App), mark.Line(who.Association)
}

// own reports whether it is us.
func (p *pass) own(who forge.Person) bool {
	return p.o.Own.Login(who.Login) || p.o.Own.App(who.App)
}
