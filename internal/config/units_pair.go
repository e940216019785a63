package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Range is from Min to Max, which is not less.
type Range struct{ Min, Max time.Duration }

// String writes the range so that parseRange reads it: "30s-30m".
func (r Range) String() string { return slot.Span(r.Min) + "-" + slot.Span(r.Max) }

// parseRange reads two durations: "30s-30m". Both are more than zero.
func parseRange(s string) (Range, error) {
	low, high, ok := strings.Cut(s, "-")
	a, err := ParseDuration(low)
	b, err2 := ParseDuration(high)
	switch {
	case !ok || err != nil || err2 != nil:
		return Range{}, errors.New("not a range of durations such as 30s-30m")
	case a == 0:
		return Range{}, errors.New("must begin with more than zero")
	case b < a:
		return Range{}, errors.New("ends before it begins")
	}
	return Range{a, b}, nil
}

// Rate is N times in Per; both are more than zero.
type Rate struct {
	N   int
	Per time.Duration
}

// String writes the rate so that parseRate reads it: "20/24h".
func (r Rate) String() string {
	return fmt.Sprintf("%d/%s", r.N, slot.Span(r.Per))
}

// parseRate reads a number and the time that it is for: "20/24h".
func parseRate(s string) (Rate, error) {
	number, per, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(number)
	d, err2 := ParseDuration(per)
	switch {
	case !ok || err != nil || err2 != nil || strings.Trim(number, "0123456789") != "":
		return Rate{}, errors.New("not a rate such as 20/24h")
	case n == 0 || d == 0:
		return Rate{}, errors.New("must be more than zero")
	}
	return Rate{n, d}, nil
}
