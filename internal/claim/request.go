package claim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// Validate refuses, with slot.ErrUsage, a request that no state of the store
// could make sense of. Every backend calls it first.
func (r Request) Validate() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: claim %s: %s", slot.ErrUsage, r.Ref, fmt.Sprintf(format, a...))
	}
	switch {
	case r.Ref.IsZero():
		return fmt.Errorf("%w: a claim needs a ref", slot.ErrUsage)
	case SlugOf(r.Key.Claim) != r.Ref.Slug():
		return bad("the claim id is not of this slot")
	case len(r.Key.Token) < 16:
		return bad("the token is too short")
	case r.Kind != slot.Supervised && r.Kind != slot.Detached:
		return bad("a claim starts supervised or detached, not %q", r.Kind)
	case r.TTL < slot.MinTTL:
		return bad("a time to live of %s is too short: at least %s", slot.Span(r.TTL), slot.Span(slot.MinTTL))
	case r.TTL > slot.MaxTTL:
		return bad("a time to live of %s is too long: at most %s", slot.Span(r.TTL), slot.Span(slot.MaxTTL))
	case r.Grace < 0 || r.Grace > r.TTL/3:
		return bad("a grace time of %s is more than a third of the time to live, %s", slot.Span(r.Grace), slot.Span(r.TTL))
	case r.Kind == slot.Supervised && r.Run == "":
		return bad("a supervised claim names its run")
	case r.Bound && (r.Kind != slot.Detached || r.Holder.Process.IsZero()):
		return bad("only a detached claim is bound, and to a process")
	case r.Ends() && (!r.Bound || len(r.Also) > 0):
		return bad("only a bound claim of one ref ends another")
	case r.Displace != nil && r.Displace.Claim == "":
		return bad("it displaces a claim without an id")
	case slices.ContainsFunc(r.Others, func(d Displace) bool { return d.Claim == "" }):
		return bad("it displaces a claim without an id")
	case slices.ContainsFunc(r.Also, slot.Ref.IsZero):
		return bad("it covers a ref that is none")
	case len(r.Also) > AlsoMax:
		return bad("it covers %d refs; at most %d are covered", len(r.Also), AlsoMax)
	}
	return nil
}

// Ends reports that the claim is asked for to end another one, and for nothing else.
func (r Request) Ends() bool { return r.Displace != nil && r.Displace.Why == Ended }

// AlsoMax bounds Request.Also.
const AlsoMax = 256

// Covers lists what the claim covers beside its own ref: each once, in the order in
// which every store goes through them.
func (r Request) Covers() []slot.Ref {
	also := slices.DeleteFunc(slices.Clone(r.Also), func(ref slot.Ref) bool { return ref == r.Ref })
	slices.SortFunc(also, func(a, b slot.Ref) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(also)
}

// Displaces gives the ground on which the request sets a claim aside; nil for none.
func (r Request) Displaces(claim string) *Displace {
	if d := r.Displace; d != nil && d.Claim == claim {
		return d
	}
	if i := slices.IndexFunc(r.Others, func(d Displace) bool { return d.Claim == claim }); i >= 0 {
		return &r.Others[i]
	}
	return nil
}

// displace adds d to what the request sets aside, and reports whether that is new.
func (r *Request) displace(d Displace) bool {
	if old := r.Displaces(d.Claim); old != nil && old.Why == d.Why {
		return false
	}
	if r.Displace == nil || r.Displace.Claim == d.Claim || len(r.Also) == 0 { // one slot, so one in the way
		r.Displace = &d
		return true
	}
	r.Others = append(slices.DeleteFunc(slices.Clone(r.Others), func(o Displace) bool { return o.Claim == d.Claim }), d)
	return true
}
