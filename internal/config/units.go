package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// ParseDuration reads a duration: Go's syntax, with days before all else, as in
// "7d", "1d12h", "90m", "1.5d". A day is 24 hours. It is never negative.
func ParseDuration(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	switch {
	case !ok:
		days, rest = "0", s
	case rest == "":
		rest = "0"
	}
	// Days are read as hours, so that the syntax of the number is Go's.
	whole, err := time.ParseDuration(days + "h")
	part, err2 := time.ParseDuration(rest)
	// A unit or a sign within would give the text another meaning than it has.
	if err != nil || err2 != nil || strings.Trim(days, "0123456789.") != "" || strings.ContainsAny(rest, "+-") {
		return 0, errors.New("not a duration such as 90s, 15m, 7d or 1d12h")
	}
	if whole > (math.MaxInt64-part)/24 {
		return 0, errors.New("longer than 292 years")
	}
	return 24*whole + part, nil
}

// unit is a unit of bytes.
type unit struct {
	name  string
	bytes int64
}

// byteUnits are tried in this order when reading and when writing.
func byteUnits() []unit {
	return []unit{
		{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9},
		{"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
	}
}

// parseBytes reads a size: a whole number and a unit, as in "50MB", "512KiB",
// "4096B". Without a unit it counts bytes.
func parseBytes(s string) (int64, error) {
	number, factor := s, int64(1)
	for _, u := range byteUnits() {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, factor = strings.TrimRight(n, " "), u.bytes
			break
		}
	}
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return 0, errors.New("not a size such as 512KiB, 50MB or 2GB")
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("more than %d bytes", int64(math.MaxInt64))
	}
	return n * factor, nil
}

// formatBytes writes n so that parseBytes reads it, with the largest unit that
// leaves no remainder.
func formatBytes(n int64) string {
	for _, u := range byteUnits() {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
