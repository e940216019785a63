package sqlite

import (
	"encoding/json"
	"slices"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// covered says that the slot is covered by a claim that lives.
const covered = "EXISTS (SELECT 1 FROM cover k JOIN slot l ON l.id = k.lead AND l.live = 1 AND l.claim = k.claim WHERE k.slot = slot.id)"

// leadOf finds the slot whose live claim covers another.
const leadOf = "SELECT " + rowColumns + ` FROM slot WHERE live = 1
	AND EXISTS (SELECT 1 FROM cover k WHERE k.slot = ? AND k.lead = slot.id AND k.claim = slot.claim)
	AND id IN (SELECT lead FROM cover WHERE slot = ?)`

// alsoText is what a claim covers, as stored: after the claim itself, because
// programs that know nothing of it leave it behind.
func alsoText(req claim.Request) string {
	also := req.Covers()
	if len(also) == 0 {
		return ""
	}
	texts := []string{req.Key.Claim}
	for _, ref := range also {
		texts = append(texts, ref.String())
	}
	return list(texts)
}

// alsoOf reads what the claim covers.
func alsoOf(claim, text string) (also []slot.Ref, err error) {
	var texts []string
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &texts); err != nil || len(texts) == 0 || texts[0] != claim {
		return nil, err
	}
	for _, s := range texts[1:] {
		ref, err := slot.ParseCanonical(s)
		if err != nil {
			return nil, err
		}
		also = append(also, ref)
	}
	return also, nil
}

// lead reads the slot whose live claim covers the given one; nil if there is none.
func (t *tx) lead(slotID int64) (*row, error) { return t.row(leadOf, slotID, slotID) }

// group is what one claim takes together.
type group struct {
	slots   []*row // its own first, then those it covers
	holders []holder
}

// holder is a live claim that is in the way.
type holder struct {
	*row
	of             slot.Ref // the first of the refs that it has or covers
	reason, detail string   // on what ground it is set aside
}

// gather reads the slots of a request with whoever holds them. Each of a row has one
// holder at most: itself, or one that covers it.
func (t *tx) gather(req claim.Request, r *row) (g group, err error) {
	g.slots = []*row{r}
	for _, ref := range req.Covers() {
		s, err := t.find(ref.Slug())
		if err == nil && s == nil {
			s, err = t.empty(ref)
		}
		if err != nil {
			return g, err
		}
		g.slots = append(g.slots, s)
	}
	for _, s := range g.slots {
		h := s
		if !s.live {
			if h, err = t.lead(s.id); err != nil {
				return g, err
			}
		}
		if h != nil && !g.held(h.id) {
			g.holders = append(g.holders, holder{row: h, of: s.claim.Ref})
		}
	}
	return g, nil
}

func (g group) held(id int64) bool {
	return slices.ContainsFunc(g.holders, func(h holder) bool { return h.id == id })
}

// has reports whether a claim is in the way.
func (g group) has(claim string) bool {
	return slices.ContainsFunc(g.holders, func(h holder) bool { return h.claim.ID == claim })
}

// ids lists the rows of the group, and of who is set aside for it.
func (g group) ids() (ids []int64) {
	for _, s := range g.slots {
		ids = append(ids, s.id)
	}
	for _, h := range g.holders {
		ids = append(ids, h.id)
	}
	return ids
}

// reason is on what ground its own slot is taken.
func (g group) reason() string {
	if len(g.holders) == 0 {
		return slot.ReasonFree
	}
	return g.holders[0].reason
}

// takeAll takes the slots of a group, all of which can be had.
func (t *tx) takeAll(req claim.Request, g group) (out claim.Grant, err error) {
	r, floor := g.slots[0], int64(0)
	for _, s := range g.slots[1:] {
		floor = max(floor, s.claim.Fence+1)
	}
	var displaced *slot.Claim
	var loose []int64 // what is free afterwards
	reason, detail := slot.ReasonFree, ""
	for i, h := range g.holders {
		if i == 0 {
			c := h.claim
			displaced, reason, detail = &c, h.reason, h.detail
		}
		was, err := t.setAside(req, r, h)
		if err != nil {
			return out, err
		}
		loose = append(loose, was...)
	}
	if out, err = t.take(req, floor, displaced, reason, detail, "WHERE true"); err != nil {
		return out, err
	}
	for _, s := range g.slots[1:] {
		if err := t.cover(r.id, s, out.Claim); err != nil {
			return out, err
		}
	}
	if req.Ticket != nil {
		if err := t.leave(r.id, req.Ticket.ID); err != nil {
			return out, err
		}
	}
	for _, s := range g.slots {
		if s.waiting == 0 {
			continue
		}
		// A turn that somebody passed (by force, say) is over: the next one counts.
		if err := t.exec("UPDATE waiter SET turn = 0 WHERE slot = ? AND turn <> 0", s.id); err != nil {
			return out, err
		}
	}
	if err := t.exec("DELETE FROM want WHERE asker = ?", r.id); err != nil {
		return out, err
	}
	taken := group{slots: g.slots}.ids()
	for _, id := range loose {
		if !slices.Contains(taken, id) {
			if err := t.freed(id); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// setAside ends a claim that is in the way of another, and lists the slots that it
// had. Its record in the slot of r itself is written over by who takes that.
func (t *tx) setAside(req claim.Request, r *row, h holder) (had []int64, err error) {
	d := claim.SetAside(h.claim, req.Ref, h.reason, h.detail)
	if had, err = t.uncover(h.id, h.claim, d); err != nil || h.id == r.id {
		return had, err
	}
	// A token that nobody has: the key is void from here on.
	err = t.exec("UPDATE slot SET live = 0, token = x'', ended_at = ?, outcome = ? WHERE id = ?",
		t.ms(), encode(slot.Outcome{Result: slot.Lost, Reason: d.Detail}), h.id)
	if err != nil {
		return had, err
	}
	return append(had, h.id), t.noteOn(h.id, func(slot.Ref) slot.Decision { return d })
}

// cover has a claim just given cover a slot, too.
func (t *tx) cover(lead int64, s *row, c slot.Claim) error {
	if err := t.exec("INSERT INTO cover (slot, lead, claim, run) VALUES (?, ?, ?, ?)", s.id, lead, c.ID, c.Run); err != nil {
		return err
	}
	// Whoever has it next, also by a program that knows of no covers, has a larger one.
	if err := t.exec("UPDATE slot SET fence = max(fence, ?) WHERE id = ?", c.Fence, s.id); err != nil {
		return err
	}
	return t.noteOn(s.id, func(ref slot.Ref) slot.Decision { return claim.Covered(ref, c) })
}

// noteOn records a decision on a slot as it is now.
func (t *tx) noteOn(id int64, d func(slot.Ref) slot.Decision) error {
	s, err := t.row("SELECT "+rowColumns+" FROM slot WHERE id = ?", id)
	if err != nil || s == nil {
		return err
	}
	return t.note(s, d(s.claim.Ref))
}

// uncover records the end of a claim, with the decision on it, for the slots that it
// covered, and lists them.
func (t *tx) uncover(lead int64, c slot.Claim, d slot.Decision) (ids []int64, err error) {
	if len(c.Also) == 0 {
		return nil, nil
	}
	err = t.all("SELECT slot FROM cover WHERE lead = ? AND claim = ? ORDER BY slot", []any{lead, c.ID}, func(sc scanner) error {
		var id int64
		err := sc.Scan(&id)
		ids = append(ids, id)
		return err
	})
	for i := 0; err == nil && i < len(ids); i++ {
		err = t.noteOn(ids[i], func(ref slot.Ref) slot.Decision { return claim.Uncovered(ref, c, d) })
	}
	return ids, err
}

// want notes that a claim of the asker was refused because of another slot.
func (t *tx) want(slotID, asker int64) error {
	if slotID == asker {
		return nil
	}
	return t.exec("INSERT INTO want (slot, asker) VALUES (?, ?) ON CONFLICT DO NOTHING", slotID, asker)
}

// freed is for a slot that nobody holds any more.
func (t *tx) freed(slotID int64) error {
	r := row{id: slotID}
	if _, err := t.one("SELECT "+awaited+" FROM slot WHERE id = ?", []any{slotID}, &r.waiting, &r.wanted, &r.deferred); err != nil {
		return err
	}
	return t.free(&r)
}

// free wakes who waits for a slot just freed, in line or in the queue, and who was
// refused because of it.
func (t *tx) free(r *row) error {
	t.woke = true // there is room for others
	if r.deferred {
		if err := t.wakeSlot(r.id); err != nil {
			return err
		}
	}
	if err := t.callHead(r); err != nil || !r.wanted {
		return err
	}
	return t.wakeWanted(r.id)
}

// awaited is who may have to be woken when a slot is freed: how many are in line,
// whether somebody was refused because of it, whether work on it was put off.
const awaited = `waiting, EXISTS (SELECT 1 FROM want WHERE want.slot = slot.id),
	EXISTS (SELECT 1 FROM item WHERE item.slot = slot.id AND item.deferred <> 0)`

// wakeWanted has those look again who were refused because of a slot.
func (t *tx) wakeWanted(slotID int64) error {
	var askers []*row
	err := t.all("SELECT id, waiting FROM slot WHERE id IN (SELECT asker FROM want WHERE slot = ?) ORDER BY id", []any{slotID}, func(sc scanner) error {
		var a row
		err := sc.Scan(&a.id, &a.waiting)
		askers = append(askers, &a)
		return err
	})
	if err != nil || len(askers) == 0 {
		return err
	}
	for _, a := range askers {
		if err := t.wakeSlot(a.id); err != nil {
			return err
		}
		if a.waiting > 0 { // it is no turn: another slot may still be in its way
			if err := t.pokeHead(a); err != nil {
				return err
			}
		}
	}
	return t.exec("DELETE FROM want WHERE slot = ?", slotID)
}

// vacant reports that nobody has the slot, waits for it, or was found in the way of
// a claim of it.
func (t *tx) vacant(r *row) (bool, error) {
	if r == nil || r.live || r.waiting > 0 {
		return false, nil
	}
	is, err := t.one("SELECT 1 FROM slot WHERE id = ?1 AND ("+covered+" OR EXISTS (SELECT 1 FROM want WHERE asker = ?1))", []any{r.id}, new(int))
	return !is, err
}
