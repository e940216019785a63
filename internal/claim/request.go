package claim

import (
	"fmt"

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
		return bad("time to live %v is under %v", r.TTL, slot.MinTTL)
	case r.TTL > slot.MaxTTL:
		return bad("time to live %v is over %v", r.TTL, slot.MaxTTL)
	case r.Grace < 0 || r.Grace > r.TTL/3:
		return bad("grace time %v is over a third of the time to live %v", r.Grace, r.TTL)
	case r.Kind == slot.Supervised && r.Run == "":
		return bad("a supervised claim names its run")
	case r.Bound && (r.Kind != slot.Detached || r.Holder.Process.IsZero()):
		return bad("only a detached claim is bound, and to a process")
	case r.Displace != nil && r.Displace.Claim == "":
		return bad("it displaces a claim without an id")
	}
	return nil
}
