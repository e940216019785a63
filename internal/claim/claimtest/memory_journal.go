package claimtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func (m *Memory) run(id string) *slot.Run {
	for _, r := range m.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// treeGone closes a run. Its first outcome stays.
func (m *Memory) treeGone(id string, out slot.Outcome) {
	r := m.run(id)
	if r == nil {
		return
	}
	if r.State != slot.RunEnded {
		r.State, r.EndedAt, r.Outcome = slot.RunEnded, m.wall(), out
		m.note(claim.Cleared(*r, out))
	}
	if r.TreeGoneAt.IsZero() {
		r.TreeGoneAt = m.wall()
	}
}

// open lists the slot's runs of this host and boot that may have a tree.
func (h *MemoryHandle) open(ref slot.Ref) []slot.Run { return h.openOf(ref, h.host) }

func (h *MemoryHandle) openOf(ref slot.Ref, boot string) []slot.Run {
	var out []slot.Run
	for _, r := range h.m.runs {
		if h.m.meets(ref, r) && r.TreeGoneAt.IsZero() && r.Holder.Process.Boot == boot {
			out = append(out, *r)
		}
	}
	return out
}

// TreeGone records that nothing is left of the run.
func (h *MemoryHandle) TreeGone(ctx context.Context, run string, out slot.Outcome) error {
	return h.step(ctx, "tree gone", func() error {
		if h.m.run(run) == nil {
			return noRun(run)
		}
		h.m.treeGone(run, out)
		return nil
	})
}

func noRun(id string) error { return fmt.Errorf("%w: there is no run %q", slot.ErrNoRecord, id) }

// OpenRuns lists the runs whose tree may be there, oldest first.
func (h *MemoryHandle) OpenRuns(ctx context.Context, ref slot.Ref) (out []slot.Run, err error) {
	err = h.step(ctx, "open runs", func() error { out = h.open(ref); return nil })
	return out, err
}

// OpenRunsOf is OpenRuns for another host.
func (h *MemoryHandle) OpenRunsOf(ctx context.Context, ref slot.Ref, boot string) (out []slot.Run, err error) {
	err = h.step(ctx, "open runs", func() error { out = h.openOf(ref, boot); return nil })
	return out, err
}

// Run reads one run.
func (h *MemoryHandle) Run(ctx context.Context, id string) (out slot.Run, err error) {
	err = h.step(ctx, "run", func() error {
		r := h.m.run(id)
		if r == nil {
			return noRun(id)
		}
		out = *r
		return nil
	})
	return out, err
}

// Runs lists the newest first.
func (h *MemoryHandle) Runs(ctx context.Context, ref slot.Ref, limit int) (out []slot.Run, err error) {
	err = h.step(ctx, "runs", func() error {
		for _, r := range slices.Backward(h.m.runs) {
			if (ref == slot.Ref{} || r.Ref == ref) && (limit == 0 || len(out) < limit) {
				out = append(out, *r)
			}
		}
		return nil
	})
	return out, err
}

// note joins d to an equal decision just before it on the same ref.
func (m *Memory) note(d slot.Decision) {
	at := d.At.UTC()
	if d.At.IsZero() {
		at = m.wall()
	}
	d.At, d.LastAt, d.Count = at, at, 1
	for i := range slices.Backward(m.decisions) {
		last := &m.decisions[i]
		if last.Ref != d.Ref {
			continue
		}
		same := d
		same.At, same.LastAt, same.Count = last.At, last.LastAt, last.Count
		if same == *last {
			last.Count++
			last.LastAt = at
			return
		}
		break
	}
	m.decisions = append(m.decisions, d)
}

// Note records a decision.
func (h *MemoryHandle) Note(ctx context.Context, d slot.Decision) error {
	return h.step(ctx, "note", func() error { h.m.note(d); return nil })
}

// Decisions lists those on a ref, oldest first.
func (h *MemoryHandle) Decisions(ctx context.Context, ref slot.Ref) (out []slot.Decision, err error) {
	err = h.step(ctx, "decisions", func() error {
		for _, d := range h.m.decisions {
			if d.Ref == ref {
				out = append(out, d)
			}
		}
		return nil
	})
	return out, err
}

// Prune drops decisions whose last time lies before the given one.
func (h *MemoryHandle) Prune(ctx context.Context, before time.Time) (n int, err error) {
	err = h.step(ctx, "prune", func() error {
		all := len(h.m.decisions)
		h.m.decisions = slices.DeleteFunc(h.m.decisions, func(d slot.Decision) bool { return d.LastAt.Before(before) })
		n = all - len(h.m.decisions)
		return nil
	})
	return n, err
}

// held is the hold that pauses ref: its own before its repository's before that on
// everything.
func (m *Memory) held(ref slot.Ref) *slot.Hold {
	for _, scope := range []string{ref.String(), ref.Repo(), slot.Everything} {
		if h, ok := m.holds[scope]; ok && scope != "" {
			return &h
		}
	}
	return nil
}

// Hold pauses a ref, a repository or everything.
func (h *MemoryHandle) Hold(ctx context.Context, hold slot.Hold) error {
	return h.step(ctx, "hold", func() error {
		if hold.At.IsZero() {
			hold.At = h.m.wall()
		}
		hold.At = hold.At.UTC()
		h.m.holds[hold.Scope] = hold
		return nil
	})
}

// Unhold ends a pause; those who wait behind it are told.
func (h *MemoryHandle) Unhold(ctx context.Context, scope string) (was bool, err error) {
	err = h.step(ctx, "unhold", func() error {
		_, was = h.m.holds[scope]
		delete(h.m.holds, scope)
		for _, s := range h.m.slots {
			if was && s.ref.Within(scope) {
				s.moved = h.m.now()
				h.m.poke(s)
				h.m.wanted(s)
			}
		}
		return nil
	})
	return was, err
}

// Holds lists the pauses by scope.
func (h *MemoryHandle) Holds(ctx context.Context) (out []slot.Hold, err error) {
	err = h.step(ctx, "holds", func() error { out = slices.Collect(maps.Values(h.m.holds)); return nil })
	slices.SortFunc(out, func(a, b slot.Hold) int { return strings.Compare(a.Scope, b.Scope) })
	return out, err
}
