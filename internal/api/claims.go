package api

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

func claimRoutes() []route {
	return []route{
		do("POST", "/api/v1/claims", Dispatch, "Claim a slot", acquire),
		do("GET", "/api/v1/claims", Read, "The claims that are not ended", live),
		large(do("POST", "/api/v1/claims/renew", Dispatch, "Renew many claims", renewMany)),
		do("POST", "/api/v1/claims/{claim}/renew", Dispatch, "Renew a claim", renew),
		do("POST", "/api/v1/claims/{claim}/start", Dispatch, "Take a supervised claim from starting to running", start),
		do("POST", "/api/v1/claims/{claim}/check", Dispatch, "Is the claim still the caller's?", check),
		do("POST", "/api/v1/claims/{claim}/release", Dispatch, "Give the claim back", release),
		do("POST", "/api/v1/claims/{claim}/park", Dispatch, "Keep the ref for a person", park),
		do("POST", "/api/v1/claims/{claim}/stop", Admin, "Ask the holder to stop, at its next renewal", askStop),
		do("GET", "/api/v1/slot", Read, "Look at one slot", look),
		do("GET", "/api/v1/repo", Read, "Under which of its names are a repository's slots kept?", repoOf),
		do("POST", "/api/v1/line/leave", Dispatch, "Give up a place in line", leave),
	}
}

func (c *call) key(token string) claim.Key {
	return claim.Key{Claim: c.r.PathValue("claim"), Token: token}
}

func acquire(c *call, in wire.Acquire) (wire.Grant, error) {
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.Grant{}, err
	}
	var also []slot.Ref
	for _, text := range in.Also {
		other, err := c.ref(text)
		if err != nil {
			return wire.Grant{}, err
		}
		also = append(also, other)
	}
	req := in.Request(ref, also)
	if req.Key, err = keyOf(ref, in); err != nil {
		return wire.Grant{}, err
	}
	if err := c.judge(&req); err != nil {
		return wire.Grant{}, err
	}
	g, err := c.Claims.Acquire(c.ctx(), req)
	if err != nil {
		return wire.Grant{}, err
	}
	g.Displaced = c.grants.again(g.Claim.ID, g.Displaced)
	if req.Ticket != nil {
		c.lines.forget(req.Ticket.ID)
	}
	c.Log.Info("claimed", "ref", ref, "claim", g.Claim.ID, "run", req.Run, "by", c.who.name)
	c.tellClaim(g.Claim)
	out := wire.Grant{Claim: c.outClaim(g.Claim), Token: req.Key.Token}
	if g.Displaced != nil {
		d := c.outClaim(*g.Displaced)
		out.Displaced = &d
	}
	return out, nil
}

// judge fits a request to who asks: what only an admin may, what is known of its
// processes, and whether its word on the holder's death counts.
func (c *call) judge(req *claim.Request) error {
	forced := slices.ContainsFunc(displaced(req), func(d claim.Displace) bool {
		return slices.Contains([]claim.Why{claim.Forced, claim.Ended, claim.Resumed}, d.Why)
	})
	if (forced || req.Head) && c.who.role < Admin {
		return fmt.Errorf("%w: taking a slot by force, or passing its line, needs the admin's token", slot.ErrNotAllowed)
	}
	asker := req.Holder.Process
	req.Holder.Process = c.in(asker)
	if req.Ticket != nil {
		req.Ticket.Process = c.in(req.Ticket.Process)
	}
	if req.Holder.Path == "" {
		req.Holder.Path = slot.PathAPI
	}
	return c.proofs(req, asker)
}

// displaced lists what a request sets aside.
func displaced(req *claim.Request) []claim.Displace {
	if req.Displace == nil {
		return req.Others
	}
	return append([]claim.Displace{*req.Displace}, req.Others...)
}

// proofs leaves out what a request sets aside as dead, if the asker's word on that
// does not count: it is refused then, with what the slot's claim is.
func (c *call) proofs(req *claim.Request, asker slot.Process) error {
	if !slices.ContainsFunc(displaced(req), func(d claim.Displace) bool { return d.Why == claim.Dead }) {
		return nil
	}
	for _, ref := range append([]slot.Ref{req.Ref}, req.Covers()...) {
		s, err := c.Claims.Look(c.ctx(), ref)
		if err != nil {
			return err
		}
		l := s.Live()
		if l == nil || c.provenDead(l.Holder.Process, asker) {
			continue
		}
		unproven := func(d claim.Displace) bool { return d.Claim == l.ID && d.Why == claim.Dead }
		if d := req.Displace; d != nil && unproven(*d) {
			req.Displace = nil
		}
		req.Others = slices.DeleteFunc(req.Others, unproven)
	}
	return nil
}

// tellClaim tells of a change of a claim, on each ref whose slot it has.
func (c *call) tellClaim(s slot.Claim) {
	for _, ref := range append([]slot.Ref{s.Ref}, s.Also...) {
		c.Feed.tell("claim", ref)
	}
}

var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// keyOf completes the key of a request. The id that goes with a token alone is
// made from it, so that the same request, sent again, is the same claim.
func keyOf(ref slot.Ref, in wire.Acquire) (claim.Key, error) {
	switch {
	case in.Token == "" && in.Claim == "":
		return claim.NewKey(ref), nil
	case in.Token == "":
		return claim.Key{}, usage("a claim's id comes with its token")
	case in.Claim == "":
		h := sha256.Sum256([]byte("claim\x00" + ref.String() + "\x00" + in.Token))
		return claim.Key{Claim: ref.Slug() + "." + lower.EncodeToString(h[:10]), Token: in.Token}, nil
	}
	return claim.Key{Claim: in.Claim, Token: in.Token}, nil
}

func live(c *call, _ none) (wire.Claims, error) {
	list, err := c.Claims.Live(c.ctx())
	return c.outClaims(list), err
}

func renew(c *call, in wire.Owner) (wire.Lease, error) {
	l, err := c.renew(c.key(in.Token))
	return wire.FromLease(l), err
}

// renew renews, and counts it.
func (c *call) renew(key claim.Key) (claim.Lease, error) {
	l, err := c.Claims.Renew(c.ctx(), key)
	result := "ok"
	switch {
	case errors.Is(err, slot.ErrLost):
		result = "lost"
	case err != nil:
		result = "unknown"
	}
	c.Renewed(result, 1)
	return l, err
}

// renewers is how many renewals of one request are under way at once: as many as
// a store may commit together.
const renewers = 128

func renewMany(c *call, in wire.RenewMany) (wire.Renewed, error) {
	if len(in.Claims) > wire.RenewMax {
		return wire.Renewed{}, usage("at most %d claims are renewed at once", wire.RenewMax)
	}
	out := wire.Renewed{Results: make([]wire.Renewal, len(in.Claims))}
	next := make(chan int)
	var all sync.WaitGroup
	for range min(renewers, len(in.Claims)) {
		all.Go(func() {
			for i := range next {
				out.Results[i] = c.renewOne(in.Claims[i])
			}
		})
	}
	for i := range in.Claims {
		next <- i
	}
	close(next)
	all.Wait()
	return out, nil
}

func (c *call) renewOne(in wire.OwnedClaim) wire.Renewal {
	l, err := c.renew(claim.Key{Claim: in.Claim, Token: in.Token})
	if err != nil {
		p := c.outProblem(wire.FromError(err))
		return wire.Renewal{Claim: in.Claim, Problem: &p}
	}
	lease := wire.FromLease(l)
	return wire.Renewal{Claim: in.Claim, Lease: &lease}
}

func start(c *call, in wire.Owner) (wire.Lease, error) {
	l, err := c.Claims.Start(c.ctx(), c.key(in.Token))
	return wire.FromLease(l), err
}

func check(c *call, in wire.Owner) (wire.Claim, error) {
	s, err := c.Claims.Check(c.ctx(), c.key(in.Token))
	return c.outClaim(s), err
}

func release(c *call, in wire.Release) (wire.Claim, error) {
	return c.end(in, slot.Done, c.Claims.Release)
}

func park(c *call, in wire.Release) (wire.Claim, error) { return c.end(in, slot.Waits, c.Claims.Park) }

// endStep is Release or Park.
type endStep func(context.Context, claim.Key, slot.Outcome) (slot.Claim, error)

func (c *call) end(in wire.Release, usual slot.Result, step endStep) (wire.Claim, error) {
	out := in.Outcome.Slot()
	if err := short(out.Reason, out.Summary, out.PR); err != nil {
		return wire.Claim{}, err
	}
	if in.Outcome == nil {
		out.Result = usual
	}
	s, err := step(c.ctx(), c.key(in.Token), out)
	if err == nil {
		c.Log.Info("given back", "ref", s.Ref, "claim", s.ID, "run", s.Run, "result", string(out.Result), "by", c.who.name)
		c.tellClaim(s)
	}
	return c.outClaim(s), err
}

func askStop(c *call, in wire.Reason) (wire.Claim, error) {
	if strings.TrimSpace(in.Reason) == "" {
		return wire.Claim{}, usage("to stop a holder needs a reason")
	}
	if err := short(in.Reason); err != nil {
		return wire.Claim{}, err
	}
	s, err := c.Claims.AskStop(c.ctx(), c.r.PathValue("claim"), in.Reason)
	if err == nil {
		c.Log.Info("asked to stop", "ref", s.Ref, "claim", s.ID, "run", s.Run, "by", c.who.name)
		c.tellClaim(s)
	}
	return c.outClaim(s), err
}

// oneRef is the query of what is about one ref.
type oneRef struct {
	Ref string `json:"ref"`
}

func look(c *call, in oneRef) (wire.Look, error) {
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.Look{}, err
	}
	s, err := c.Claims.Look(c.ctx(), ref)
	return c.outLook(s), err
}

func leave(c *call, in wire.Leave) (wire.OK, error) {
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.OK{}, err
	}
	t := claim.Ticket{ID: in.Ticket.ID, Process: c.in(in.Ticket.Process)}
	c.lines.forget(t.ID)
	return wire.OK{OK: true}, c.Claims.Leave(c.ctx(), ref, t)
}
