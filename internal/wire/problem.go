package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Types of problems. They are what a program tells problems apart by.
const (
	TypeBusy         = "urn:oneslot:busy"         // somebody else has the slot, or stands before you
	TypeDeferred     = "urn:oneslot:deferred"     // not now
	TypeLost         = "urn:oneslot:lost"         // the claim is not, or not any more, yours
	TypeUnknown      = "urn:oneslot:unknown"      // it could not be found out; never read it as free
	TypeMoved        = "urn:oneslot:moved"        // the server's store is not at its address any more
	TypeUsage        = "urn:oneslot:usage"        // the request makes no sense
	TypeNotAllowed   = "urn:oneslot:not-allowed"  // not for this caller
	TypeConfig       = "urn:oneslot:config"       // the server's configuration does not allow for it
	TypeStale        = "urn:oneslot:stale"        // what was seen has changed since
	TypeUnauthorized = "urn:oneslot:unauthorized" // no token that is known
	TypeTooMany      = "urn:oneslot:too-many"     // too many failures from this address
	TypeTooLarge     = "urn:oneslot:too-large"
	TypeNoRoute      = "urn:oneslot:no-route" // there is no such address here
	TypeInternal     = "urn:oneslot:internal"
)

// ErrNoRoute: the server is too old for the question. Such an error is slot.ErrUnknown,
// too.
var ErrNoRoute = errors.New("the server does not know the question")

// Problem is an error as RFC 9457 has it. Beyond type, title, status and detail
// are the fields of the error of slot's that it stands for.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"` // for people

	Ref    *slot.Ref  `json:"ref,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Seen   string     `json:"seen,omitempty"`   // busy, deferred: what was found
	Holder *Claim     `json:"holder,omitempty"` // busy: the claim that has the slot
	Place  *Place     `json:"place,omitempty"`
	Hold   *Hold      `json:"hold,omitempty"`
	Until  *time.Time `json:"until,omitempty"` // deferred: when another try is worth it
	Claim  string     `json:"claim,omitempty"` // lost: the caller's
	Newest *Claim     `json:"newest,omitempty"`
	Op     string     `json:"op,omitempty"` // unknown: what was tried
	Store  string     `json:"store,omitempty"`
	Cause  string     `json:"cause,omitempty"`
	Hint   string     `json:"hint,omitempty"`
}

// Place is slot.Place.
type Place struct {
	Ahead        int          `json:"ahead"`
	Before       slot.Process `json:"before"`
	BeforeTicket string       `json:"before_ticket"`
}

// kinds are the kinds of errors with what they are called and answered with.
var kinds = []struct {
	is     error
	typ    string
	title  string
	status int
}{
	{slot.ErrLost, TypeLost, "The claim is lost", 410},
	{slot.ErrNotAllowed, TypeNotAllowed, "Not allowed", 403},
	{slot.ErrMoved, TypeMoved, "The store has moved", 503},
	{slot.ErrUnknown, TypeUnknown, "It could not be found out", 503},
	{slot.ErrNoRecord, TypeUsage, "It is not on record", 404},
	{slot.ErrUsage, TypeUsage, "The request makes no sense", 400},
	{slot.ErrConfig, TypeConfig, "The server is not set up for it", 501},
	{queue.ErrStale, TypeStale, "It has changed since", 409},
}

// FromError makes the problem that an error is. What is no error of slot's is
// internal: its text is not told.
func FromError(err error) Problem {
	if p := refusal(err); p != nil {
		return *p
	}
	for _, k := range kinds {
		if !errors.Is(err, k.is) {
			continue
		}
		p := Problem{Type: k.typ, Title: k.title, Status: k.status, Detail: err.Error()}
		var lost *slot.LostError
		var unknown *slot.UnknownError
		switch {
		case errors.As(err, &lost):
			p.Claim, p.Reason, p.Newest = lost.Claim, lost.Reason, claimOrNil(lost.Newest)
		case errors.As(err, &unknown):
			p.Op, p.Store, p.Cause, p.Hint = unknown.Op, unknown.Store, unknown.Err.Error(), unknown.Hint
		}
		return p
	}
	return Problem{Type: TypeInternal, Title: "A fault of the server", Status: 500, Detail: "the server's log says more"}
}

// refusal is the problem of a busy or deferred claim.
func refusal(err error) *Problem {
	var busy *slot.BusyError
	var deferred *slot.DeferError
	switch {
	case errors.As(err, &busy):
		p := &Problem{Type: TypeBusy, Title: "The slot is not free", Status: 409, Detail: busy.Error(),
			Ref: &busy.Ref, Reason: busy.Reason, Seen: busy.Detail, Store: busy.Store, Place: fromPlace(busy.Place)}
		if busy.Claim.ID != "" {
			p.Holder = claimOrNil(&busy.Claim)
		}
		return p
	case errors.As(err, &deferred):
		return &Problem{Type: TypeDeferred, Title: "Not now", Status: 409, Detail: deferred.Error(),
			Ref: &deferred.Ref, Reason: deferred.Reason, Seen: deferred.Detail, Hold: FromHold(deferred.Hold),
			Place: fromPlace(deferred.Place), Until: at(deferred.Until)}
	}
	return nil
}

func fromPlace(p *slot.Place) *Place {
	if p == nil {
		return nil
	}
	return &Place{p.Ahead, p.Before, p.BeforeTicket}
}

func (p *Place) slot() *slot.Place {
	if p == nil {
		return nil
	}
	return &slot.Place{Ahead: p.Ahead, Before: p.Before, BeforeTicket: p.BeforeTicket}
}

func claimOrNil(c *slot.Claim) *Claim {
	if c == nil {
		return nil
	}
	w := FromClaim(*c)
	return &w
}

// Err gives the error back. A problem that is not known, or that lacks what it
// should say, is slot.ErrUnknown: op and store say what was tried, and where.
func (p Problem) Err(op, store string) error {
	switch p.Type {
	case TypeBusy:
		if p.Ref == nil || p.Ref.IsZero() || p.Reason == "" || p.Holder == nil && p.Reason == slot.ReasonHeld {
			break
		}
		e := &slot.BusyError{Ref: *p.Ref, Reason: p.Reason, Store: store, Detail: p.Seen, Place: p.Place.slot()}
		if p.Holder != nil {
			e.Claim = p.Holder.Slot()
		}
		return e
	case TypeDeferred:
		if p.Ref == nil || p.Ref.IsZero() || p.Reason == "" {
			break
		}
		return &slot.DeferError{Ref: *p.Ref, Reason: p.Reason, Detail: p.Seen, Hold: p.Hold.Slot(), Place: p.Place.slot(),
			Until: timeOf(p.Until)}
	case TypeLost:
		e := &slot.LostError{Claim: p.Claim, Reason: p.Reason}
		if e.Reason == "" {
			e.Reason = p.Detail
		}
		if p.Newest != nil {
			c := p.Newest.Slot()
			e.Newest = &c
		}
		return e
	case TypeUsage:
		if p.Status == 404 {
			return &told{p.Detail, slot.ErrNoRecord}
		}
		return &told{p.Detail, slot.ErrUsage}
	case TypeNotAllowed:
		return &told{p.Detail, slot.ErrNotAllowed}
	case TypeConfig:
		return &told{p.Detail, slot.ErrConfig}
	case TypeStale:
		return queue.ErrStale
	case TypeUnauthorized:
		return &slot.UnknownError{Op: op, Store: store, Err: errors.New(p.Detail),
			Hint: "the token is taken from ONESLOT_API_TOKEN"}
	case TypeNoRoute:
		return &slot.UnknownError{Op: op, Store: store, Err: fmt.Errorf("%w (%s)", ErrNoRoute, p.Detail)}
	case TypeMoved:
		return &slot.UnknownError{Op: op, Store: store, Err: fmt.Errorf("%w (%s)", slot.ErrMoved, p.Detail)}
	}
	cause := p.Cause
	if cause == "" {
		cause = p.Detail
	}
	if p.Store != "" {
		cause = p.Store + ": " + cause
	}
	return &slot.UnknownError{Op: op, Store: store, Err: fmt.Errorf("the server says: %s", cause), Hint: p.Hint}
}

// told is an error as the server words it.
type told struct {
	text string
	kind error
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.kind }
