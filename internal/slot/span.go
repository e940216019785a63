package slot

import (
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Span writes a span of time as people write it, and as the configuration is read:
// "7d", "1d12h", "24h", "1m30s".
func Span(d time.Duration) string {
	if d <= day {
		return trimZero(d)
	}
	s := strconv.FormatInt(int64(d/day), 10) + "d"
	if d%day != 0 {
		s += trimZero(d % day)
	}
	return s
}

// trimZero writes 15m for Go's 15m0s.
func trimZero(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
