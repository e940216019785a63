package wire

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Claim is slot.Claim.
type Claim struct {
	Claim  string      `json:"claim"`
	Ref    slot.Ref    `json:"ref"`
	Also   []slot.Ref  `json:"also"` // whose slots it has, too
	Slug   string      `json:"slug"`
	Kind   slot.Kind   `json:"kind"`
	Phase  slot.Phase  `json:"phase"`
	Fence  int64       `json:"fence"`
	Holder slot.Holder `json:"holder"`

	Run    *string `json:"run"`
	Dir    *string `json:"dir"` // the run's folder on the holder's host
	Warden bool    `json:"warden"`
	Bound  bool    `json:"bound"`

	TTL       Span       `json:"ttl"`
	Grace     Span       `json:"grace"`
	Since     *time.Time `json:"since"`
	RenewedAt *time.Time `json:"renewed_at"`
	ExpiresAt *time.Time `json:"expires_at"`
	Left      Span       `json:"left"` // until it expires, by the store's clock

	StopReason *string    `json:"stop_reason"` // somebody asked the holder to stop
	Ended      bool       `json:"ended"`
	EndedAt    *time.Time `json:"ended_at"`
	Outcome    *Outcome   `json:"outcome"`
}

// FromClaim makes the shape of a claim.
func FromClaim(c slot.Claim) Claim {
	also := c.Also
	if also == nil {
		also = []slot.Ref{}
	}
	return Claim{
		Claim: c.ID, Ref: c.Ref, Also: also, Slug: c.Ref.Slug(), Kind: c.Kind, Phase: c.Phase, Fence: c.Fence, Holder: c.Holder,
		Run: some(c.Run), Dir: some(c.Dir), Warden: c.Warden, Bound: c.Bound, TTL: Span(c.TTL), Grace: Span(c.Grace),
		Since: at(c.Since), RenewedAt: at(c.RenewedAt), ExpiresAt: at(c.ExpiresAt), Left: Span(c.Left),
		StopReason: some(c.StopReason), Ended: c.Ended, EndedAt: at(c.EndedAt), Outcome: fromOutcome(c.Outcome),
	}
}

// Slot gives the claim back.
func (c Claim) Slot() slot.Claim {
	also := c.Also
	if len(also) == 0 {
		also = nil
	}
	return slot.Claim{
		ID: c.Claim, Ref: c.Ref, Also: also, Kind: c.Kind, Phase: c.Phase, Fence: c.Fence, Holder: c.Holder,
		Run: textOf(c.Run), Dir: textOf(c.Dir), Warden: c.Warden, Bound: c.Bound, TTL: time.Duration(c.TTL), Grace: time.Duration(c.Grace),
		Since: timeOf(c.Since), RenewedAt: timeOf(c.RenewedAt), ExpiresAt: timeOf(c.ExpiresAt), Left: time.Duration(c.Left),
		StopReason: textOf(c.StopReason), Ended: c.Ended, EndedAt: timeOf(c.EndedAt), Outcome: c.Outcome.Slot(),
	}
}

// Claims are the claims that are not ended.
type Claims struct {
	Claims []Claim `json:"claims"`
}

// Outcome is slot.Outcome.
type Outcome struct {
	Result     slot.Result `json:"result"`
	Exit       *int        `json:"exit"`
	Signal     *string     `json:"signal"`
	Reason     *string     `json:"reason"`
	Summary    *string     `json:"summary"`
	PR         *string     `json:"pr"`
	CostUSD    float64     `json:"cost_usd"`
	Tokens     int64       `json:"tokens"`
	RetryAfter Span        `json:"retry_after"`
	Unspent    bool        `json:"unspent"`
	LeftBehind int         `json:"left_behind"`
	Kept       int         `json:"kept"`
}

// FromOutcome makes the shape of an outcome.
func FromOutcome(o slot.Outcome) Outcome {
	return Outcome{
		Result: o.Result, Exit: o.Exit, Signal: some(o.Signal), Reason: some(o.Reason), Summary: some(o.Summary), PR: some(o.PR),
		CostUSD: o.CostUSD, Tokens: o.Tokens, RetryAfter: Span(o.RetryAfter), Unspent: o.Unspent,
		LeftBehind: o.LeftBehind, Kept: o.Kept,
	}
}

func fromOutcome(o slot.Outcome) *Outcome {
	if o == (slot.Outcome{}) {
		return nil
	}
	w := FromOutcome(o)
	return &w
}

// Slot gives the outcome back; nil is none.
func (o *Outcome) Slot() slot.Outcome {
	if o == nil {
		return slot.Outcome{}
	}
	return slot.Outcome{
		Result: o.Result, Exit: o.Exit, Signal: textOf(o.Signal), Reason: textOf(o.Reason), Summary: textOf(o.Summary), PR: textOf(o.PR),
		CostUSD: o.CostUSD, Tokens: o.Tokens, RetryAfter: time.Duration(o.RetryAfter), Unspent: o.Unspent,
		LeftBehind: o.LeftBehind, Kept: o.Kept,
	}
}
