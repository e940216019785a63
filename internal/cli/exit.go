package cli

import (
	"errors"
	"slices"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/doctor"
	"github.com/oneslot/oneslot/internal/slot"
)

// Exit codes, from sysexits(3) where it has one. `run` and its kind end with
// the command's own code where it ran.
const (
	exitOK         = 0
	exitUsage      = 64
	exitUnknown    = 69
	exitInternal   = 70 // a fault in oneslot itself
	exitOutput     = 74 // EX_IOERR: output could not be passed on
	exitBusy       = 75
	exitNotAllowed = 77
	exitConfig     = 78
	exitSkipped    = 80
	exitLost       = 81
	exitTimeout    = 124
	exitInterrupt  = 130
)

// exitError carries a code of its own: a command's, or a state that is no
// error, such as a peek at a slot that is held. Its message, if any, is already
// told.
type exitError struct{ code int }

func (e *exitError) Error() string { return "" }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var own *exitError
	var busy *slot.BusyError
	var deferred *slot.DeferError
	var skipped *slot.SkipError
	var output *outputError
	var daemon *app.DaemonError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &deferred) && deferred.Unknown() && !errors.As(err, &busy):
		return exitUnknown
	case errors.As(err, &busy), errors.As(err, &deferred), errors.As(err, &daemon):
		return exitBusy
	case errors.As(err, &skipped):
		return exitSkipped
	case errors.Is(err, slot.ErrLost):
		return exitLost
	case errors.Is(err, slot.ErrNotAllowed):
		return exitNotAllowed
	case errors.Is(err, slot.ErrConfig):
		return exitConfig
	case errors.Is(err, slot.ErrUsage):
		return exitUsage
	case errors.Is(err, slot.ErrUnknown):
		return exitUnknown
	case errors.As(err, &output):
		return exitOutput
	}
	return exitInternal
}

// worst is the exit code of several steps: what nobody could do, then what could not
// be found out, then a refusal.
func worst(errs []error) int {
	order := []int{exitNotAllowed, exitUnknown, exitBusy, exitOK} // all others before them
	code := exitOK
	for _, err := range errs {
		if next := exitCode(err); slices.Index(order, next) < slices.Index(order, code) {
			code = next
		}
	}
	return code
}

// doctorError is the exit code that goes with what doctor found; nil if nothing
// fails.
func doctorError(lines []doctor.Line) error {
	code := exitOK
	for _, l := range lines {
		switch {
		case l.Status != doctor.Fail:
		case l.Check == "configuration":
			code = exitConfig
		case l.Finding == "store-foreign" && code != exitConfig:
			code = exitNotAllowed
		case code == exitOK:
			code = exitUnknown
		}
	}
	if code == exitOK {
		return nil
	}
	return &exitError{code}
}
