package forge

import (
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Kinds of errors. All of them match slot.ErrUnknown: nothing was found out.
var (
	// ErrNotFound: a 404. It may be there, and the token may not see it.
	ErrNotFound = errors.New("not found, or the token may not see it")
	// ErrForbidden: a 403 that names no limit: a right is missing.
	ErrForbidden = errors.New("the token may not do this")
	// ErrUnauthorized: the token is wrong or ended, and could not be renewed.
	ErrUnauthorized = errors.New("the token is not accepted")
	// ErrLimited: a rate limit; see LimitError.
	ErrLimited = errors.New("the forge's rate limit")
	// ErrShort: a list that the forge itself says is not whole.
	ErrShort = errors.New("the forge's list is shorter than its own counter")
	// ErrUnsupported: the forge has nothing of the kind.
	ErrUnsupported = errors.New("the forge cannot do this")
	// ErrRefused: the forge understood and says no (a locked conversation, a body that
	// is too long).
	ErrRefused = errors.New("the forge refused it")
)

// Error is a failed call.
type Error struct {
	Kind   error  // one of the above; nil: the forge could not be asked
	Op     string // what was tried, for people: "read octo/hello#2"
	Status int    // of the answer; 0 if there was none
	Detail string // the forge's message, one line, or what happened to the connection
	Err    error  // the cause, if there is more
}

// Error implements error.
func (e *Error) Error() string {
	s := e.Op
	if e.Kind != nil {
		s += ": " + e.Kind.Error()
	}
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap gives the kinds.
func (e *Error) Unwrap() []error {
	list := []error{slot.ErrUnknown}
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// LimitError is a rate limit: the client asks nothing more before Until.
type LimitError struct {
	Until time.Time
}

// Error implements error.
func (e *LimitError) Error() string {
	return "the forge's rate limit: nothing is asked before " + e.Until.UTC().Format(time.RFC3339)
}

// Is makes a LimitError match ErrLimited and slot.ErrUnknown.
func (e *LimitError) Is(target error) bool { return target == ErrLimited || target == slot.ErrUnknown }
