package wire

import (
	"fmt"
	"time"
)

// Span is a time.Duration, written as in "1m30s".
type Span time.Duration

// MarshalText writes the span; no digit is lost.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("a span of time is written as in \"1m30s\": %w", err)
	}
	*s = Span(d)
	return nil
}

// at is a time as it is sent: null if there is none.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// some is a text as it is sent: null if it is empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
