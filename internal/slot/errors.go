package slot

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Errors that callers tell apart. Anything else is an internal fault.
var (
	// ErrUnknown: it could not be found out. Never read as free.
	ErrUnknown = errors.New("could not be found out")
	// ErrLost: the claim is not, or not any more, the caller's.
	ErrLost = errors.New("the claim is lost")
	// ErrNotAllowed: the caller may not do this here.
	ErrNotAllowed = errors.New("not allowed")
	// ErrUsage: the request makes no sense, whatever the state of the world.
	ErrUsage = errors.New("usage")
	// ErrNoRecord: what is named is not on record. It is ErrUsage, and reads so.
	ErrNoRecord error = noRecord{}
	// ErrMoved: the store is not at its address any more; what is claimed there
	// now is claimed in another.
	ErrMoved = errors.New("the store is not at its address any more")
	// ErrConfig: the configuration is wrong or not enough.
	ErrConfig = errors.New("configuration")
)

type noRecord struct{}

func (noRecord) Error() string { return ErrUsage.Error() }
func (noRecord) Unwrap() error { return ErrUsage }

// Place is a position in the line for a slot.
type Place struct {
	Ahead int // how many wait before it
	// Before is the process of the one just before it (of the head, for a
	// caller that is not in line), BeforeTicket its ticket. Zero at the head.
	Before       Process
	BeforeTicket string
}

// BusyError refuses a claim because of somebody else's: the slot is held, or
// free with others in line before the caller.
type BusyError struct {
	Ref    Ref
	Reason string // ReasonHeld, ReasonLine, ReasonInside, ReasonUnseen, ReasonUnstopped
	Claim  Claim  // the holder's, maybe of another ref (see Claim.Also); zero with ReasonLine
	Store  string // the store asked, without secrets
	Detail string
	Place  *Place // where the caller stands, or would stand, in line
}

func (e *BusyError) Error() string {
	switch e.Reason {
	case ReasonLine:
		return fmt.Sprintf("%s is free, but others wait in line for it", e.Ref)
	case ReasonInside:
		return fmt.Sprintf("%s is held by the run that this command is part of", e.Ref)
	}
	if !e.Claim.Ref.IsZero() && e.Claim.Ref != e.Ref {
		return fmt.Sprintf("%s shares its slot with %s, which is held by %s", e.Ref, e.Claim.Ref, e.Claim.Who())
	}
	return fmt.Sprintf("%s is held by %s", e.Ref, e.Claim.Who())
}

// Finding is one gate's part in a decision.
type Finding struct {
	Gate    string
	Verdict Verdict // empty: it was not asked
	Reason  string
	Detail  string
}

// DeferError refuses a claim because a gate says "not now".
type DeferError struct {
	Ref    Ref
	Reason string
	Detail string
	Hold   *Hold
	Place  *Place
	Until  time.Time // when another try is worth it; zero if nobody knows
	// Evidence is what each gate said, if gates were asked.
	Evidence []Finding
}

func (e *DeferError) Error() string {
	return fmt.Sprintf("%s is deferred: %s", e.Ref, cmp.Or(e.Detail, e.Reason))
}

// Unknown reports whether the gate that decided, the last one asked, could not find
// out.
func (e *DeferError) Unknown() bool {
	n := len(e.Evidence)
	return n > 0 && e.Evidence[n-1].Verdict == Unknown
}

// SkipError refuses a claim because there is nothing to do: a gate says that the
// work is over.
type SkipError struct {
	Ref    Ref
	Reason string
	Detail string
	// Evidence is what each gate said.
	Evidence []Finding
}

func (e *SkipError) Error() string {
	return fmt.Sprintf("%s is skipped: %s", e.Ref, e.Detail)
}

// IsRefusal reports whether err says busy, deferred or skipped: for certain, nothing
// was claimed.
func IsRefusal(err error) bool {
	var busy *BusyError
	var deferred *DeferError
	var skipped *SkipError
	return errors.As(err, &busy) || errors.As(err, &deferred) || errors.As(err, &skipped)
}

// LostError says why a claim is not the caller's. It matches ErrLost.
type LostError struct {
	Claim  string
	Reason string
	Newest *Claim // the slot's newest record, if it is known
}

func (e *LostError) Error() string { return fmt.Sprintf("claim %s is lost: %s", e.Claim, e.Reason) }

// Is reports a match with ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// UnknownError says what could not be asked, and why. It matches ErrUnknown.
type UnknownError struct {
	Op    string // what was tried
	Store string // the store or gate asked, without secrets
	Err   error
	Hint  string // what the reader can do; may be empty
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.Store, e.Op, e.Err)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// Is reports a match with ErrUnknown.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }
