package slot

import (
	"errors"
	"strconv"
)

const (
	refForms   = "owner/repo#12, host/group/project!12, owner/repo@branch[:check], key:NAME, or the web address of an issue, a pull request or a branch"
	scopeForms = "owner/repo, host/group/project, a repository's web address, '*' for everything, or a ref: " + refForms

	shownText = 60 // bytes of a wrong part that an error repeats
)

// RefError says which part of a text keeps it from being a ref. It matches
// ErrUsage, unless the cause is that something could not be found out
// (ErrUnknown).
//
// Its message never repeats what may be a password: of an address with a user,
// it shows no text at all.
type RefError struct {
	Part string // "host", "owner", "repository", "number", "branch", "check", "key", "address", "ref", "default host"
	Text string // the part as it was given; empty if missing or not to be shown
	Why  string // what is wrong with it: "has a leading zero"; never repeats the text
	Err  error  // the cause, if it lies outside of the text

	scope bool   // a repository would have been accepted too
	whole string // all that was given, where a part of it is missing; empty if not to be shown
}

func (e *RefError) Error() string {
	s := "not a ref: "
	forms := " (a ref is " + refForms + ")"
	if e.scope {
		s = "neither a ref nor a repository: "
		forms = " (expected " + scopeForms + ")"
	}
	if e.whole != "" {
		s = repeated(e.whole) + " is " + s + "its "
	}
	s += e.Part
	if e.Text != "" {
		s += " " + repeated(e.Text)
	}
	s += " " + e.Why
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + forms
}

// repeated is a text that was given, as a message repeats it.
func repeated(s string) string {
	if len(s) > shownText {
		return strconv.Quote(s[:shownText]) + "…"
	}
	return strconv.Quote(s)
}

// Unwrap gives the cause.
func (e *RefError) Unwrap() error { return e.Err }

// Is reports a match with ErrUsage.
func (e *RefError) Is(target error) bool {
	return target == ErrUsage && !errors.Is(e.Err, ErrUnknown)
}

func bad(part, text, why string) error {
	return &RefError{Part: part, Text: text, Why: why}
}
