package remote

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

func fine(ok wire.OK) bool { return ok.OK }

// TreeGone implements claim.Journal.
func (s *Store) TreeGone(ctx context.Context, run string, out slot.Outcome) error {
	_, err := ask(ctx, s, step("record that the run is gone", of("runs", run, "gone"), wire.FromOutcome(out)), fine)
	return err
}

// OpenRuns implements claim.Journal.
func (s *Store) OpenRuns(ctx context.Context, ref slot.Ref) ([]slot.Run, error) {
	q := about(ref)
	q.Set("boot", s.opt.Boot)
	return s.runs(ctx, "/runs/open", q)
}

// Run implements claim.Journal.
func (s *Store) Run(ctx context.Context, id string) (slot.Run, error) {
	r, err := ask(ctx, s, get("read the run", of("runs", id), nil), func(r wire.Run) bool { return r.Run == id && r.State != "" })
	return r.Slot(), err
}

// Runs implements claim.Journal.
func (s *Store) Runs(ctx context.Context, ref slot.Ref, limit int) ([]slot.Run, error) {
	q := url.Values{}
	if !ref.IsZero() {
		q = about(ref)
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return s.runs(ctx, "/runs", q)
}

func (s *Store) runs(ctx context.Context, path string, q url.Values) ([]slot.Run, error) {
	l, err := ask(ctx, s, get("read runs", path, q), func(l wire.Runs) bool { return l.Runs != nil })
	if err != nil {
		return nil, err
	}
	var out []slot.Run
	for _, r := range l.Runs {
		out = append(out, r.Slot())
	}
	return out, nil
}

// Note implements claim.Journal. It is not sent again: it would be counted twice.
func (s *Store) Note(ctx context.Context, d slot.Decision) error {
	_, err := ask(ctx, s, post("record a decision", "/decisions", wire.FromDecision(d)), fine)
	return err
}

// Decisions implements claim.Journal.
func (s *Store) Decisions(ctx context.Context, ref slot.Ref) ([]slot.Decision, error) {
	l, err := ask(ctx, s, get("read decisions", "/decisions", about(ref)), func(l wire.Decisions) bool { return l.Decisions != nil })
	if err != nil {
		return nil, err
	}
	var out []slot.Decision
	for _, d := range l.Decisions {
		out = append(out, d.Slot())
	}
	return out, nil
}

// Prune implements claim.Journal. The server prunes by itself; asking needs its
// admin.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	n, err := ask(ctx, s, post("prune", "/decisions/prune", wire.Prune{Before: before}), func(wire.Number) bool { return true })
	return n.Number, err
}

// Hold implements claim.Journal.
func (s *Store) Hold(ctx context.Context, h slot.Hold) error {
	_, err := ask(ctx, s, step("hold", "/holds", wire.FromHold(&h)), fine)
	return err
}

// Unhold implements claim.Journal. It is not sent again: it would say that there
// was nothing to end.
func (s *Store) Unhold(ctx context.Context, scope string) (bool, error) {
	w, err := ask(ctx, s, post("unhold", "/holds/end", wire.Unhold{Scope: scope}), func(wire.Was) bool { return true })
	return w.Was, err
}

// Holds implements claim.Journal.
func (s *Store) Holds(ctx context.Context) ([]slot.Hold, error) {
	l, err := ask(ctx, s, get("read holds", "/holds", nil), func(l wire.Holds) bool { return l.Holds != nil })
	if err != nil {
		return nil, err
	}
	var out []slot.Hold
	for i := range l.Holds {
		out = append(out, *l.Holds[i].Slot())
	}
	return out, nil
}
