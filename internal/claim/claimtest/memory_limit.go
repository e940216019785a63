package claimtest

import (
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// over refuses a request whose limits are reached; nil lets it pass.
func (m *Memory) over(req claim.Request) *slot.DeferError {
	if !m.caps.Limits || req.Head {
		return nil
	}
	var own []*memSlot
	for _, o := range m.group(req) {
		own = append(own, o, m.holderOf(o))
	}
	var load claim.Load
	for _, other := range m.slots {
		c := other.newest
		if slices.Contains(own, other) || c == nil || c.Ended || c.Kind == slot.Waiting {
			continue
		}
		if _, free := m.takable(other); free {
			continue
		}
		load.Running++
		if other.ref.Repo() == req.Ref.Repo() {
			load.PerRepo++
		}
	}
	var started []time.Time
	for _, r := range m.runs {
		if r.Ref == req.Ref && r.StartedAt.After(m.wall().Add(-req.Limits.Window)) {
			started = append(started, r.StartedAt)
		}
	}
	slices.SortFunc(started, time.Time.Compare)
	if n := len(started) - req.Limits.PerRef; n >= 0 && n < len(started) {
		load.Oldest = started[n]
	}
	return req.Limits.Over(req.Ref, load)
}
