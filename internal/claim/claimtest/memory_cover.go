package claimtest

import (
	"slices"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// memCovers is what a Memory knows of claims that have more slots than one.
type memCovers struct {
	lead  map[slot.Ref]*memClaim         // the last claim that covered the slot
	floor map[slot.Ref]int64             // and its fence
	runs  map[string][]slot.Ref          // what each run's claim covered
	wants map[slot.Ref]map[*memSlot]bool // who was refused because of the slot
}

func newCovers() memCovers {
	return memCovers{
		lead: map[slot.Ref]*memClaim{}, floor: map[slot.Ref]int64{}, runs: map[string][]slot.Ref{},
		wants: map[slot.Ref]map[*memSlot]bool{},
	}
}

func (m *Memory) slot(ref slot.Ref) *memSlot {
	s := m.slots[ref]
	if s == nil {
		s = &memSlot{ref: ref, moved: m.now()}
		m.slots[ref] = s
	}
	return s
}

// group lists the slots of a request, its own first.
func (m *Memory) group(req claim.Request) []*memSlot {
	all := []*memSlot{m.slot(req.Ref)}
	for _, ref := range req.Covers() {
		all = append(all, m.slot(ref))
	}
	return all
}

// holderOf is the slot whose claim has s: that of the claim that covers it, else
// its own.
func (m *Memory) holderOf(s *memSlot) *memSlot {
	if c := m.covers.lead[s.ref]; c != nil && !c.Ended && m.slots[c.Ref].newest == c {
		return m.slots[c.Ref]
	}
	return s
}

// grounds is ground for all slots of a request; the reason is that of the first that
// somebody has.
func (m *Memory) grounds(s *memSlot, req claim.Request) (string, error) {
	reason := slot.ReasonFree
	for _, o := range m.group(req) {
		h := m.holderOf(o)
		why, err := m.ground(h, req)
		if err != nil {
			e := err.(*slot.BusyError)
			e.Detail = claim.Shared(req, o.ref, e.Claim)
			m.want(h, s)
			return "", e
		}
		if reason == slot.ReasonFree {
			reason = why
		}
	}
	return reason, nil
}

// cover has a claim just given have its slots.
func (m *Memory) cover(s *memSlot, c *memClaim) {
	for _, ref := range c.Also {
		m.covers.lead[ref], m.covers.floor[ref] = c, c.Fence
		m.note(claim.Covered(ref, c.Claim))
	}
	m.covers.runs[c.Run] = c.Also
	for _, askers := range m.covers.wants {
		delete(askers, s)
	}
}

// uncover frees what an ended claim covered.
func (m *Memory) uncover(c *memClaim, closed slot.Decision) {
	for _, ref := range c.Also {
		if m.covers.lead[ref] == c {
			delete(m.covers.lead, ref)
			m.note(claim.Uncovered(ref, c.Claim, closed))
			m.free(m.slot(ref))
		}
	}
}

// setAside ends a claim in the way of one for s.
func (m *Memory) setAside(s, h *memSlot, req claim.Request, reason string) {
	c := h.newest
	c.Ended, c.EndedAt, c.token = true, m.wall(), nil
	detail := ""
	if d := req.Displaces(c.ID); d != nil {
		detail = d.Detail
	}
	d := claim.SetAside(c.Claim, req.Ref, reason, detail)
	m.uncover(c, d)
	if h != s {
		m.note(d)
		m.free(h)
	}
}

// free is for a slot that nobody has any more.
func (m *Memory) free(s *memSlot) {
	s.moved = m.now()
	m.poke(s)
	m.wanted(s)
}

func (m *Memory) want(of, asker *memSlot) {
	if of == asker {
		return
	}
	if m.covers.wants[of.ref] == nil {
		m.covers.wants[of.ref] = map[*memSlot]bool{}
	}
	m.covers.wants[of.ref][asker] = true
}

// wanted tells those who were refused because of a slot.
func (m *Memory) wanted(of *memSlot) {
	for asker := range m.covers.wants[of.ref] {
		m.poke(asker)
	}
	delete(m.covers.wants, of.ref)
}

// meets reports whether a run may have left a tree in a slot, or in one that its
// live claim covers.
func (m *Memory) meets(ref slot.Ref, r *slot.Run) bool {
	refs := []slot.Ref{ref}
	if s := m.slots[ref]; s != nil && s.newest != nil && !s.newest.Ended {
		refs = append(refs, s.newest.Also...)
	}
	return slices.ContainsFunc(refs, func(ref slot.Ref) bool {
		return r.Ref == ref || slices.Contains(m.covers.runs[r.ID], ref)
	})
}
