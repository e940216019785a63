package sqlite

import (
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// over refuses a request whose limits are reached; nil lets it pass.
func (t *tx) over(req claim.Request, g group) (*slot.DeferError, error) {
	l := req.Limits
	if l.IsZero() || req.Head {
		return nil, nil
	}
	var load claim.Load
	if l.Running > 0 || l.PerRepo > 0 {
		repo := req.Ref.Repo()
		// Whose holder surely works no more is not counted, nor whose run has left
		// nothing: nobody may ever take its slot. The claims of its own slots are about
		// to be displaced.
		_, err := t.one(`SELECT count(*), count(*) FILTER (WHERE substr(ref, 1, length(?1) + 1) IN (?1 || '#', ?1 || '!', ?1 || '@'))
			FROM slot WHERE live = 1 AND id NOT IN (SELECT value FROM json_each(?2)) AND kind <> 'waiting'
				AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = slot.run AND run.tree_gone_at <> 0) AND CASE
				WHEN boot <> ?3 THEN kind = 'detached' AND NOT bound
				WHEN deadline <= ?4 THEN NOT (kind = 'supervised' AND warden OR kind = 'detached' AND NOT bound)
				ELSE true END`,
			[]any{repo, list(g.ids()), t.w.s.opt.Clock.BootID(), int64(t.boot)}, &load.Running, &load.PerRepo)
		if err != nil {
			return nil, err
		}
	}
	if l.PerRef > 0 && l.Window > 0 {
		var at int64
		_, err := t.one("SELECT started_at FROM run WHERE slot = ? AND started_at > ? ORDER BY started_at DESC LIMIT 1 OFFSET ?",
			[]any{g.slots[0].id, t.wall.Add(-l.Window).UnixMilli(), l.PerRef - 1}, &at)
		if err != nil {
			return nil, err
		}
		load.Oldest = wallTime(at)
	}
	return l.Over(req.Ref, load), nil
}
