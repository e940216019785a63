package sqlite

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// row is a slot as stored: its newest claim, live or not.
type row struct {
	id      int64
	waiting int
	seq     int64
	said    string // the last decision
	asked   string // the claim that was refused last, since the slot was taken
	live    bool
	token   []byte

	wanted, deferred bool // as awaited tells; else unset

	boot     string        // that deadline and began count in
	began    time.Duration // when it was claimed, boot time
	deadline time.Duration
	expires  int64 // wall ms; what waiting claims end by

	claim slot.Claim
}

const rowColumns = `id, waiting, seq, said, asked, live, token, boot, began, deadline, expires,
	claim, ref, kind, phase, fence, host, holder_boot, ns, pid, ticks, uid, path, command,
	run, dir, warden, bound, ttl, grace, since_at, renewed_at, stop, ended_at, outcome, also`

type scanner interface{ Scan(...any) error }

func scanRow(sc scanner) (row, error) {
	var (
		r                           row
		c                           = &r.claim
		ref, outcome, also          string
		ns, ticks                   int64
		since, renewed, ended       int64
		began, deadline, ttl, grace int64
	)
	err := sc.Scan(&r.id, &r.waiting, &r.seq, &r.said, &r.asked, &r.live, &r.token, &r.boot, &began, &deadline, &r.expires,
		&c.ID, &ref, (*string)(&c.Kind), (*string)(&c.Phase), &c.Fence, &c.Holder.Host, &c.Holder.Process.Boot, &ns, &c.Holder.Process.PID,
		&ticks, &c.Holder.UID, &c.Holder.Path, &c.Holder.Command, &c.Run, &c.Dir, &c.Warden, &c.Bound,
		&ttl, &grace, &since, &renewed, &c.StopReason, &ended, &outcome, &also)
	if err != nil {
		return r, err
	}
	r.began, r.deadline = time.Duration(began), time.Duration(deadline)
	c.TTL, c.Grace = time.Duration(ttl), time.Duration(grace)
	c.Holder.Process.NS, c.Holder.Process.Ticks = uint64(ns), uint64(ticks)
	c.Since, c.RenewedAt, c.ExpiresAt, c.EndedAt = wallTime(since), wallTime(renewed), wallTime(r.expires), wallTime(ended)
	c.Ended = !r.live
	if outcome != "" {
		if err := json.Unmarshal([]byte(outcome), &c.Outcome); err != nil {
			return r, err
		}
	}
	if c.Also, err = alsoOf(c.ID, also); err != nil {
		return r, err
	}
	c.Ref, err = slot.ParseCanonical(ref)
	return r, err
}

// judge fills in what depends on the time of reading: how long is left.
func (r *row) judge(boot time.Duration, bootID string, wall time.Time) {
	c := &r.claim
	switch {
	case !r.live:
		c.Left = 0
	case c.Kind == slot.Waiting:
		c.Left = time.Duration(r.expires-wall.UnixMilli()) * time.Millisecond
	case r.boot == bootID:
		c.Left = r.deadline - boot
	case c.Kind == slot.Detached && !c.Bound, c.Holder.Process.Far():
		c.Left = c.TTL // the first writer after the boot grants it
	default:
		c.Left = 0 // its holder ended with the machine's earlier boot
	}
}

// ownBootOver reports that the holder was a process of an earlier boot of this host.
func (r *row) ownBootOver(bootID string) bool {
	return r.live && r.boot != bootID && (r.claim.Kind == slot.Supervised || r.claim.Bound) && !r.claim.Holder.Process.Far()
}

// selfEnding reports that expiry alone proves that the work has stopped, or
// that nobody said anything about its life.
func selfEnding(c slot.Claim) bool {
	switch c.Kind {
	case slot.Supervised:
		return c.Warden
	case slot.Detached:
		return !c.Bound
	}
	return true
}

func wallTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func encode(o slot.Outcome) string {
	b, err := json.Marshal(o)
	if err != nil { // NaN costs are the only way; they were refused before
		return "{}"
	}
	return string(b)
}

// saying joins what makes two decisions equal.
func saying(d slot.Decision) string {
	return strings.Join([]string{string(d.Verdict), d.Path, d.Reason, d.Detail, d.Run}, "\x1f")
}

// find reads the slot's row in a transaction.
func (t *tx) find(slug string) (*row, error) {
	return t.row("SELECT "+rowColumns+" FROM slot WHERE slug = ?", slug)
}

// row reads the first slot that a query of rowColumns finds; nil if there is none.
func (t *tx) row(query string, args ...any) (*row, error) {
	var r row
	found := false
	err := t.rows(query, args, func(sc scanner) (_ bool, err error) {
		found = true
		r, err = scanRow(sc)
		return false, err
	})
	if err != nil || !found {
		return nil, err
	}
	r.judge(t.boot, t.w.s.opt.Clock.BootID(), t.wall)
	if r.claim.ID == "" {
		r.claim.Ended = true
	}
	return &r, nil
}
