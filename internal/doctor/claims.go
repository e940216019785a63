package doctor

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

func claims(ctx context.Context, s *Subject, r *report) {
	if s.Store == nil {
		return
	}
	live, err := s.Store.Live(ctx)
	if err != nil {
		return // the store's own line tells
	}
	holds, err := s.Store.Holds(ctx)
	if err != nil {
		return
	}
	before := len(r.lines)
	for _, h := range holds {
		if h.Scope == slot.Everything {
			r.bad("hold-everything", "%s, since %s", h, h.At.Local().Format("2006-01-02 15:04:05 MST"))
		}
	}
	for _, c := range live {
		oneClaim(s, r, c)
	}
	if len(r.lines) == before {
		r.good("%d live, all in order", len(live))
	}
}

// oneClaim tells the first thing that is wrong with a claim.
func oneClaim(s *Subject, r *report, c slot.Claim) {
	who := c.Ref.String() + ", held by " + c.Who()
	if c.Dir != "" && c.Kind == slot.Supervised {
		if out, err := rundir.At(c.Dir).Outcome(); err == nil {
			r.bad("claim-pending", "%s: its run %s ended (%s), the release is pending", who, c.Run, out.Result)
			return
		}
	}
	d, reason, detail := claim.Judge(s.Sight, c)
	switch {
	case d != nil && d.Why == claim.Dead:
		r.bad("claim-dead", "%s: %s", who, d.Detail)
	case d != nil:
		r.bad("claim-overdue", "%s: its time to live was over %v ago", who, (-c.Left).Round(time.Second))
	case reason == slot.ReasonUnseen:
		r.bad("claim-unseen", "%s: %s", who, detail)
	case !c.Holder.Process.IsZero() && proc.Look(c.Holder.Process).Stopped:
		r.bad("claim-frozen", "%s: that process is stopped", who)
	case c.Phase == slot.Starting && s.Clock != nil && s.Clock.Wall().Sub(c.Since) > slot.StartTTL+c.Grace:
		r.bad("claim-starting", "%s: it is starting since %v", who, s.Clock.Wall().Sub(c.Since).Round(time.Second))
	}
}
