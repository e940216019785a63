package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// closeRun ends a run whose tree its supervisor has proved to be gone, and settles
// the work item that it was for.
func (t *tx) closeRun(run string, out slot.Outcome) error {
	return t.endRun(run, out, false)
}

// endRun is closeRun; others: it was not its supervisor that closed it.
func (t *tx) endRun(run string, out slot.Outcome, others bool) error {
	if run == "" {
		return nil
	}
	var n int64
	var started, works bool
	open, err := t.one(`SELECT n, started_at <> 0, EXISTS (SELECT 1 FROM item WHERE item.run = run.id AND item.run <> '')
		FROM run WHERE id = ? AND state <> 'ended'`, []any{run}, &n, &started, &works)
	if err != nil || !open {
		return err
	}
	err = t.exec("UPDATE run SET state = 'ended', outcome = ?, ended_at = ?, tree_gone_at = ? WHERE n = ?", encode(out), t.ms(), t.ms(), n)
	if err == nil && others {
		err = t.cleared(run, out)
	}
	if err == nil && works {
		_, err = t.settle(run, out, started)
	}
	return err
}

// cleared records the end of a run that its supervisor did not close.
func (t *tx) cleared(run string, out slot.Outcome) error {
	r := slot.Run{ID: run}
	var slug string
	is, err := t.one("SELECT s.slug, r.path, r.fence FROM run r JOIN slot s ON s.id = r.slot WHERE r.id = ?", []any{run}, &slug, &r.Path, &r.Fence)
	if err != nil || !is {
		return err
	}
	row, err := t.find(slug)
	if err != nil || row == nil {
		return err
	}
	r.Ref = row.claim.Ref
	return t.note(row, claim.Cleared(r, out))
}

// TreeGone implements claim.Journal.
func (s *Store) TreeGone(ctx context.Context, run string, out slot.Outcome) error {
	return s.do(ctx, "close run", func(t *tx) error {
		if err := t.endRun(run, out, true); err != nil {
			return err
		}
		var id int64
		known, err := t.one("UPDATE run SET tree_gone_at = iif(tree_gone_at = 0, ?, tree_gone_at) WHERE id = ? RETURNING slot",
			[]any{t.ms(), run}, &id)
		if err != nil || !known {
			return err
		}
		return t.treeGone(run, id)
	})
}

// treeGone has those look again who had to wait for the end of a run's tree.
func (t *tx) treeGone(run string, slotID int64) error {
	ids := []int64{slotID}
	err := t.all("SELECT slot FROM cover WHERE run = ? AND run <> ''", []any{run}, func(sc scanner) error {
		var id int64
		err := sc.Scan(&id)
		ids = append(ids, id)
		return err
	})
	for i := 0; err == nil && i < len(ids); i++ {
		if err = t.wakeSlot(ids[i]); err == nil {
			err = t.wakeWanted(ids[i])
		}
	}
	return err
}

// openRuns are the runs r of a boot that may have left a tree in a slot, or in one
// that its live claim covers.
const openRuns = `r.tree_gone_at = 0 AND r.boot = ?3 AND r.id IN (
	WITH g (id) AS (SELECT ?1 UNION SELECT slot FROM cover WHERE lead = ?1 AND claim = ?2)
	SELECT o.id FROM run o WHERE o.slot IN (SELECT id FROM g) AND o.tree_gone_at = 0
	UNION SELECT k.run FROM cover k WHERE k.slot IN (SELECT id FROM g))`

// openArgs are the arguments of openRuns.
func openArgs(r *row, boot string) []any {
	claim := ""
	if r.live {
		claim = r.claim.ID
	}
	return []any{r.id, claim, boot}
}

// OpenRuns implements claim.Journal.
func (s *Store) OpenRuns(ctx context.Context, ref slot.Ref) ([]slot.Run, error) {
	return s.OpenRunsOf(ctx, ref, s.opt.Clock.BootID())
}

// OpenRunsOf is OpenRuns for another host, or an earlier boot.
func (s *Store) OpenRunsOf(ctx context.Context, ref slot.Ref, boot string) ([]slot.Run, error) {
	r, err := s.look(ctx, ref.Slug())
	if err != nil || r == nil {
		return nil, err
	}
	if s.read.old() {
		return s.runs(ctx, "r.slot = ? AND r.tree_gone_at = 0 AND r.boot = ? ORDER BY r.n", r.id, boot)
	}
	return s.runs(ctx, openRuns+" ORDER BY r.n", openArgs(r, boot)...)
}

// Run implements claim.Journal.
func (s *Store) Run(ctx context.Context, id string) (slot.Run, error) {
	list, err := s.runs(ctx, "r.id = ?", id)
	if err != nil {
		return slot.Run{}, err
	}
	if len(list) == 0 {
		return slot.Run{}, fmt.Errorf("%w: no run %q is on record in %s", slot.ErrNoRecord, id, s.Address())
	}
	return list[0], nil
}

// Runs implements claim.Journal.
func (s *Store) Runs(ctx context.Context, ref slot.Ref, limit int) ([]slot.Run, error) {
	if limit == 0 {
		limit = -1
	}
	if ref.IsZero() {
		return s.runs(ctx, "true ORDER BY r.n DESC LIMIT ?", limit)
	}
	return s.runs(ctx, "s.slug = ? ORDER BY r.n DESC LIMIT ?", ref.Slug(), limit)
}

func (s *Store) runs(ctx context.Context, cond string, args ...any) ([]slot.Run, error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT r.id, s.ref, r.rule, r.path, r.claim, r.fence, r.state, r.outcome, r.host, r.boot,
		r.ns, r.pid, r.ticks, r.uid, r.command, r.dir, r.started_at, r.ended_at, r.tree_gone_at
		FROM run r JOIN slot s ON s.id = r.slot WHERE `+cond, args...)
	if err != nil {
		return nil, s.unknown("read", err)
	}
	defer rows.Close()
	var list []slot.Run
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, s.unknown("read", err)
		}
		list = append(list, r)
	}
	return list, s.unknown("read", rows.Err())
}

func scanRun(sc scanner) (r slot.Run, err error) {
	var ref, outcome string
	var ns, ticks, started, ended, gone int64
	h := &r.Holder
	err = sc.Scan(&r.ID, &ref, &r.Rule, &r.Path, &r.Claim, &r.Fence, &r.State, &outcome, &h.Host, &h.Process.Boot, &ns,
		&h.Process.PID, &ticks, &h.UID, &h.Command, &r.Dir, &started, &ended, &gone)
	if err != nil {
		return r, err
	}
	h.Path, h.Process.NS, h.Process.Ticks = r.Path, uint64(ns), uint64(ticks)
	r.StartedAt, r.EndedAt, r.TreeGoneAt = wallTime(started), wallTime(ended), wallTime(gone)
	if outcome != "" {
		if err := json.Unmarshal([]byte(outcome), &r.Outcome); err != nil {
			return r, err
		}
	}
	r.Ref, err = slot.ParseCanonical(ref)
	return r, err
}
