package claimtest

import (
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func journalTests() []test {
	return []test{
		{"P10/EachVerdictIsStored", verdicts},
		{"P10/EqualVerdictsInARowAreOne", func(b *bench) {
			s, ref := b.open(), b.ref(1)
			from := b.wall()
			note := func(ref slot.Ref, reason string) {
				b.Helper()
				d := slot.Decision{Ref: ref, Path: "poll", Verdict: slot.Skip, Reason: reason, Detail: "d", Next: "n"}
				if err := b.open().Note(b.ctx, d); err != nil {
					b.Fatalf("note: %v", err)
				}
				b.pass(10 * time.Millisecond)
			}
			for _, reason := range []string{"closed", "closed", "closed", "landed", "closed"} {
				note(ref, reason)
				note(b.ref(2), reason) // another ref's do not come between
			}
			ds := b.decisions(s, ref)
			if len(ds) != 3 || ds[0].Count != 3 || ds[1].Count != 1 || ds[2].Count != 1 || ds[1].Reason != "landed" {
				b.Fatalf("decisions %+v; want closed three times, landed, closed", ds)
			}
			if first := ds[0]; first.At.Before(from.Add(-time.Minute)) || !first.LastAt.After(first.At) || !ds[1].At.After(first.LastAt) {
				b.Errorf("first at %v, last at %v, next at %v; want them in order", first.At, first.LastAt, ds[1].At)
			}
		}},
		{"P10/EqualRefusalsAreCounted", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			other := b.detached(req.Ref)
			for range 3 {
				b.pass(10 * time.Millisecond)
				b.busy(s, other, slot.ReasonHeld)
			}
			ds := b.decisions(s, req.Ref)
			if last := ds[len(ds)-1]; last.Count != 3 || last.Verdict != slot.Defer || last.Reason != slot.ReasonHeld {
				b.Errorf("the last of %d decisions is %+v; want held, three times", len(ds), last)
			}
		}},
		{"P10/PruneKeepsWhatIsRecent", func(b *bench) {
			s, ref := b.open(), b.ref(1)
			var last time.Time
			for _, reason := range []string{"a", "b", "c"} {
				b.pass(10 * time.Millisecond)
				if err := s.Note(b.ctx, slot.Decision{Ref: ref, Verdict: slot.Skip, Reason: reason}); err != nil {
					b.Fatalf("note: %v", err)
				}
			}
			if ds := b.decisions(s, ref); len(ds) == 3 {
				last = ds[1].LastAt
			}
			if n, err := s.Prune(b.ctx, last.In(time.FixedZone("", -7*3600))); err != nil || n != 1 {
				b.Errorf("pruned %d, %v; want the one before %v", n, err, last)
			}
			if ds := b.decisions(s, ref); len(ds) != 2 || ds[0].Reason != "b" {
				b.Errorf("left are %+v; want b and c", ds)
			}
		}},
		{"C22/TimesComeBackInUTC", timesUTC},
		{"P10/RunsAreListed", listRuns},
		{"P11/TreeGoneTwiceKeepsTheFirstOutcome", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.begin(s, req)
			if _, err := s.Release(b.ctx, req.Key, slot.Outcome{Result: slot.Failed}); err != nil {
				b.Fatalf("release: %v", err)
			}
			b.gone(s, req.Run)
			b.gone(s, req.Run)
			if r, err := s.Run(b.ctx, req.Run); err != nil || r.Outcome.Result != slot.Failed || r.State != slot.RunEnded {
				b.Errorf("the run is %+v, %v; want failed", r, err)
			}
		}},
		{"P10/LookAndLive", lookAndLive},
	}
}

func (b *bench) decisions(s Store, ref slot.Ref) []slot.Decision {
	b.Helper()
	ds, err := s.Decisions(b.ctx, ref)
	if err != nil {
		b.Fatalf("decisions: %v", err)
	}
	return ds
}

// verdicts: each answer of Acquire is a stored decision with its reason.
func verdicts(b *bench) {
	s, ref := b.open(), b.ref(1)
	last := func(req claim.Request, verdict slot.Verdict, reason string) {
		b.Helper()
		ds := b.decisions(s, ref)
		if len(ds) == 0 {
			b.Fatalf("no decision; want %s (%s)", verdict, reason)
		}
		d := ds[len(ds)-1]
		if d.Verdict != verdict || d.Reason != reason || d.Ref != ref || d.Path != req.Holder.Path || d.Count != 1 {
			b.Errorf("decision %+v; want %s (%s) by %s", d, verdict, reason, req.Holder.Path)
		}
		if verdict == slot.Proceed && (d.Fence == 0 || d.Run != req.Run) {
			b.Errorf("decision with fence %d, run %q; want run %q", d.Fence, d.Run, req.Run)
		}
	}
	req := b.supervised(ref)
	b.take(s, req)
	last(req, slot.Proceed, slot.ReasonFree)
	req.Holder.Path = "poll"
	for why, reason := range map[claim.Why]string{claim.Dead: slot.ReasonDead, claim.Forced: slot.ReasonForced} {
		other := b.detached(ref)
		b.busy(s, other, slot.ReasonHeld)
		last(other, slot.Defer, slot.ReasonHeld)
		next := over(b.supervised(ref), b.newest(s, ref).ID, why)
		next.Holder.Path = "sweep"
		b.take(s, next)
		last(next, slot.Proceed, reason)
		req = next
	}
	b.release(s, req.Key)
	waiter := b.detached(ref)
	b.take(s, waiter)
	b.past(b.ttl)
	req = b.detached(ref)
	b.take(s, req)
	last(req, slot.Proceed, slot.ReasonExpired)
	b.hold(s, ref.String(), "x")
	other := b.detached(ref)
	b.deferred(s, other)
	last(other, slot.Defer, slot.ReasonHold)
}

func timesUTC(b *bench) {
	s, req := b.open(), b.supervised(b.ref(1))
	b.begin(s, req)
	for i, hours := range []int{0, 5, -7} {
		at := b.wall().In(time.FixedZone("", hours*3600+1800))
		d := slot.Decision{Ref: b.ref(2), At: at, Verdict: slot.Skip, Reason: at.String()}
		if err := s.Note(b.ctx, d); err != nil {
			b.Fatalf("note: %v", err)
		}
		got := b.decisions(s, d.Ref)[i]
		if got.At.Location() != time.UTC || got.LastAt.Location() != time.UTC || got.At.Sub(at).Abs() > time.Minute {
			b.Errorf("decision at %v, %v; want %v", got.At, got.LastAt, at.UTC())
		}
		b.pass(10 * time.Millisecond)
	}
	n := b.newest(s, req.Ref)
	r, err := s.Run(b.ctx, req.Run)
	if err != nil {
		b.Fatalf("run: %v", err)
	}
	end := b.release(s, req.Key)
	for name, at := range map[string]time.Time{
		"since": n.Since, "renewed": n.RenewedAt, "expires": n.ExpiresAt, "started": r.StartedAt, "ended": end.EndedAt,
	} {
		if at.IsZero() || at.Location() != time.UTC {
			b.Errorf("%s at %v; want a time in UTC", name, at)
		}
		if d := at.Sub(b.wall()).Abs(); d > b.ttl+time.Minute {
			b.Errorf("%s at %v, %v from now", name, at, d)
		}
	}
}

func listRuns(b *bench) {
	s, ref := b.open(), b.ref(1)
	var ids []string
	for i := range 3 {
		req := b.supervised(ref)
		g := b.take(s, req)
		r, err := s.Run(b.ctx, req.Run)
		if err != nil || r.State != slot.RunStarting || !r.StartedAt.IsZero() || r.Ref != ref || r.Claim != req.Key.Claim ||
			r.Fence != g.Claim.Fence || r.Rule != req.Rule || r.Path != "manual" || r.Dir != req.Dir || r.Holder != req.Holder {
			b.Errorf("the run committed with the claim is %+v, %v", r, err)
		}
		b.start(s, req.Key)
		open, err := s.OpenRuns(b.ctx, ref)
		if err != nil || len(open) != 1 || open[0].ID != req.Run {
			b.Errorf("open runs %+v, %v; want %s", open, err, req.Run)
		}
		code := i
		out := slot.Outcome{Result: slot.Failed, Exit: &code, Reason: "r", Summary: "s", PR: "https://example.org/pull/9",
			CostUSD: 1.25, Tokens: 7, RetryAfter: time.Minute, LeftBehind: 2, Kept: 1}
		if _, err := s.Release(b.ctx, req.Key, out); err != nil {
			b.Fatalf("release: %v", err)
		}
		r, err = s.Run(b.ctx, req.Run)
		if err != nil || r.State != slot.RunEnded || r.EndedAt.IsZero() || r.TreeGoneAt.IsZero() || r.Outcome.Exit == nil || *r.Outcome.Exit != i {
			b.Errorf("the ended run is %+v, %v", r, err)
		}
		if got := r.Outcome; got.Exit != nil {
			got.Exit = out.Exit
			if got != out {
				b.Errorf("outcome %+v; want %+v", got, out)
			}
		}
		ids = append(ids, req.Run)
		b.pass(2 * time.Millisecond)
	}
	b.take(s, b.supervised(b.ref(2)))
	slices.Reverse(ids)
	runs := func(ref slot.Ref, limit, want int) []slot.Run {
		b.Helper()
		out, err := s.Runs(b.ctx, ref, limit)
		if err != nil || len(out) != want {
			b.Fatalf("%d runs, %v; want %d", len(out), err, want)
		}
		return out
	}
	for i, r := range runs(ref, 0, 3) {
		if r.ID != ids[i] {
			b.Errorf("run %d is %s; want %s: the newest first", i, r.ID, ids[i])
		}
	}
	if r := runs(ref, 1, 1)[0]; r.ID != ids[0] {
		b.Errorf("the newest run is %s; want %s", r.ID, ids[0])
	}
	if r := runs(slot.Ref{}, 0, 4)[0]; r.Ref != b.ref(2) {
		b.Errorf("the newest run of all is of %s", r.Ref)
	}
	if open, err := s.OpenRuns(b.ctx, ref); err != nil || len(open) != 0 {
		b.Errorf("open runs %+v, %v; want none", open, err)
	}
	if _, err := s.Run(b.ctx, "no-such-run"); err == nil {
		b.Error("a run that never was is found")
	}
}

func lookAndLive(b *bench) {
	s := b.open()
	if l := b.look(s, b.ref(9)); l.Ref != b.ref(9) || l.Newest != nil || l.Hold != nil || l.Waiting != 0 || l.Live() != nil {
		b.Errorf("a look at a slot never used: %+v", l)
	}
	reqs := []claim.Request{b.detached(b.ref(1)), b.supervised(b.ref(2)), b.supervised(b.ref(3)), b.detached(b.ref(4))}
	for _, req := range reqs {
		b.take(s, req)
	}
	b.start(s, reqs[1].Key)
	b.start(s, reqs[2].Key)
	if _, err := s.Park(b.ctx, reqs[2].Key, slot.Outcome{Result: slot.Waits}); err != nil {
		b.Fatalf("park: %v", err)
	}
	b.release(s, reqs[3].Key)
	if l := b.look(s, b.ref(4)); l.Live() != nil || l.Newest == nil || !l.Newest.Ended {
		b.Errorf("a look at a released slot: %+v; want its ended record", l)
	}
	b.past(b.ttl) // expired is not ended: whoever looks must see it
	live, err := b.open().Live(b.ctx)
	if err != nil {
		b.Fatalf("live: %v", err)
	}
	kinds := map[string]slot.Kind{}
	for _, c := range live {
		kinds[c.ID] = c.Kind
	}
	if len(live) != 3 || kinds[reqs[0].Key.Claim] != slot.Detached || kinds[reqs[1].Key.Claim] != slot.Supervised ||
		kinds[reqs[2].Key.Claim] != slot.Waiting {
		b.Errorf("live claims %v; want the detached, the supervised and the waiting one", kinds)
	}
}
