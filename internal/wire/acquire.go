package wire

import (
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Acquire asks for a slot. Only Ref is needed: a token that is left out is made
// up by the server, and so is the claim's id; a caller that sends the same token
// again, because the answer was lost, gets the same claim.
type Acquire struct {
	Ref   string    `json:"ref"`            // also as people write it
	Also  []string  `json:"also,omitempty"` // refs whose slots are claimed, too: all or none
	Claim string    `json:"claim,omitempty"`
	Token string    `json:"token,omitempty"` // at least 16 characters; 160 random bits are meant
	Kind  slot.Kind `json:"kind,omitempty"`  // detached if left out
	TTL   Span      `json:"ttl,omitempty"`   // 15m detached, 1m supervised if left out
	Grace *Span     `json:"grace,omitempty"` // the smaller of 10s and a third of ttl if left out

	Holder *slot.Holder `json:"holder,omitempty"`
	Rule   string       `json:"rule,omitempty"`
	Run    string       `json:"run,omitempty"`
	Dir    string       `json:"dir,omitempty"`
	Warden bool         `json:"warden,omitempty"`
	Bound  bool         `json:"bound,omitempty"`

	Displace *Displace  `json:"displace,omitempty"`
	Others   []Displace `json:"others,omitempty"` // further ones, if refs are claimed, too
	Ticket   *Ticket    `json:"ticket,omitempty"`
	Limits   *Limits    `json:"limits,omitempty"`
	Head     bool       `json:"head,omitempty"`
}

// Displace is claim.Displace.
type Displace struct {
	Claim  string    `json:"claim"`
	Why    claim.Why `json:"why"`
	Detail string    `json:"detail,omitempty"`
}

// Ticket is claim.Ticket: a place in line.
type Ticket struct {
	ID      string       `json:"id"`
	Process slot.Process `json:"process"`
}

// Limits is claim.Limits.
type Limits struct {
	Running int  `json:"running,omitempty"`
	PerRepo int  `json:"per_repo,omitempty"`
	PerRef  int  `json:"per_ref,omitempty"`
	Window  Span `json:"window,omitempty"`
}

// FromRequest makes the shape of a request.
func FromRequest(r claim.Request) Acquire {
	grace := Span(r.Grace)
	a := Acquire{
		Ref: r.Ref.String(), Claim: r.Key.Claim, Token: r.Key.Token, Kind: r.Kind, TTL: Span(r.TTL), Grace: &grace, Holder: &r.Holder,
		Rule: r.Rule, Run: r.Run, Dir: r.Dir, Warden: r.Warden, Bound: r.Bound, Head: r.Head,
	}
	if d := r.Displace; d != nil {
		a.Displace = &Displace{d.Claim, d.Why, d.Detail}
	}
	for _, d := range r.Others {
		a.Others = append(a.Others, Displace{d.Claim, d.Why, d.Detail})
	}
	for _, ref := range r.Also {
		a.Also = append(a.Also, ref.String())
	}
	if t := r.Ticket; t != nil {
		a.Ticket = &Ticket{t.ID, t.Process}
	}
	if l := r.Limits; l != (claim.Limits{}) {
		a.Limits = &Limits{l.Running, l.PerRepo, l.PerRef, Span(l.Window)}
	}
	return a
}

// Request gives the request for the refs that were read from a.Ref and a.Also, with
// what was left out filled in but for the key.
func (a Acquire) Request(ref slot.Ref, also []slot.Ref) claim.Request {
	r := claim.Request{
		Ref: ref, Also: also, Key: claim.Key{Claim: a.Claim, Token: a.Token}, Kind: a.Kind, TTL: time.Duration(a.TTL),
		Rule: a.Rule, Run: a.Run, Dir: a.Dir, Warden: a.Warden, Bound: a.Bound, Head: a.Head,
	}
	if r.Kind == "" {
		r.Kind = slot.Detached
	}
	if r.TTL == 0 {
		r.TTL = slot.DefaultTTL
		if r.Kind == slot.Detached {
			r.TTL = slot.DetachedTTL
		}
	}
	r.Grace = min(slot.DefaultGrace, r.TTL/3)
	if a.Grace != nil {
		r.Grace = time.Duration(*a.Grace)
	}
	if a.Holder != nil {
		r.Holder = *a.Holder
	}
	if d := a.Displace; d != nil {
		r.Displace = &claim.Displace{Claim: d.Claim, Why: d.Why, Detail: d.Detail}
	}
	for _, d := range a.Others {
		r.Others = append(r.Others, claim.Displace{Claim: d.Claim, Why: d.Why, Detail: d.Detail})
	}
	if t := a.Ticket; t != nil {
		r.Ticket = &claim.Ticket{ID: t.ID, Process: t.Process}
	}
	if l := a.Limits; l != nil {
		r.Limits = claim.Limits{Running: l.Running, PerRepo: l.PerRepo, PerRef: l.PerRef, Window: time.Duration(l.Window)}
	}
	return r
}

// Grant is a claim that was given, with the token that owns it.
type Grant struct {
	Claim
	Token     string `json:"token"`
	Displaced *Claim `json:"displaced"` // the live claim that was set aside
}

// Owner proves whose claim it is.
type Owner struct {
	Token string `json:"token"`
}

// Lease is claim.Lease.
type Lease struct {
	TTL        Span       `json:"ttl"` // counts from before the request was sent
	Phase      slot.Phase `json:"phase"`
	StopReason *string    `json:"stop_reason"`
}

// FromLease makes the shape of a lease.
func FromLease(l claim.Lease) Lease { return Lease{Span(l.TTL), l.Phase, some(l.StopReason)} }

// Lease gives the lease back.
func (l Lease) Lease() claim.Lease {
	return claim.Lease{TTL: time.Duration(l.TTL), Phase: l.Phase, StopReason: textOf(l.StopReason)}
}

// RenewMany renews many claims with one request, at most RenewMax.
type RenewMany struct {
	Claims []OwnedClaim `json:"claims"`
}

// RenewMax is the most claims that one request renews.
const RenewMax = 10000

// OwnedClaim names a claim and proves whose it is.
type OwnedClaim struct {
	Claim string `json:"claim"`
	Token string `json:"token"`
}

// Renewed answers RenewMany, in its order.
type Renewed struct {
	Results []Renewal `json:"results"`
}

// Renewal is what became of one renewal: Lease or Problem is there.
type Renewal struct {
	Claim   string   `json:"claim"`
	Lease   *Lease   `json:"lease"`
	Problem *Problem `json:"problem"`
}

// Release ends a claim.
type Release struct {
	Token   string   `json:"token"`
	Outcome *Outcome `json:"outcome,omitempty"` // done if left out
}

// Reason is why a person, or a program for one, does something.
type Reason struct {
	Reason string `json:"reason"`
}

// Leave gives up a place in line.
type Leave struct {
	Ref    string `json:"ref"`
	Ticket Ticket `json:"ticket"`
}
