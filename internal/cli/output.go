package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/oneslot/oneslot/internal/slot"
)

// clean makes a stranger's text fit for a terminal: one line, without control
// characters and without those that turn the direction of writing.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, s)
}

// outputError is a result that could not be printed.
type outputError struct{ err error }

func (e *outputError) Error() string {
	err := e.err
	var file *fs.PathError
	if errors.As(err, &file) { // its path is only what we call our own end
		err = file.Err
	}
	return "the result could not be printed: " + err.Error()
}

func (e *outputError) Unwrap() error { return e.err }

// cut keeps the first n characters of s, and shows where there were more.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// printed is the error of a write of results.
func printed(err error) error {
	if err == nil {
		return nil
	}
	return &outputError{err}
}

// printJSON writes one value and a newline.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return printed(enc.Encode(v))
}

// stamp is a time as JSON has it: RFC 3339 in UTC, null for none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.999Z07:00")
	return &s
}

// text is a string as JSON has it: null for none.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// number is a number as JSON has it: null for zero.
func number[N int | int64](n N) *N {
	if n == 0 {
		return nil
	}
	return &n
}

// when is a time for people: local, with its zone; "-" for none.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// since is a time for people, with how long ago it was. A clock that was set
// back makes no negative age.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%s (%s ago)", when(t), span(now.Sub(t)))
}

// span is a duration for people: two units at most.
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Hour:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Minute)
	}
	return slot.Span(d)
}

// table prints rows in aligned columns, each line after the given margin.
func table(w io.Writer, margin string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, margin+strings.Join(row, "\t"))
	}
	return printed(t.Flush())
}

// onTerminal reports whether f is a terminal.
func onTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// Colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
	bold   = "1"
)

// paint colours s if f is a terminal and nobody asked for no colour.
func (c *cli) paint(f *os.File, colour, s string) string {
	if c.getenv("NO_COLOR") != "" || c.getenv("TERM") == "dumb" || !onTerminal(f) {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// getenv reads a variable of the world; unset and empty are the same.
func (c *cli) getenv(name string) string {
	v, _ := c.Config.Env(name)
	return v
}
