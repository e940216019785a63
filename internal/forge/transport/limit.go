package transport

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
)

// Bounds of a wait. GitHub: a secondary limit that names no time is at least a minute,
// and more each time it comes again.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
const (
	leastWait    = time.Second
	unnamedWait  = time.Minute
	unnamedMost  = 15 * time.Minute
	longestWait  = 24 * time.Hour // more is a header gone wrong
	epochSeconds = 1_000_000_000  // from here on a reset is a time, below it is a wait
)

// limiter stops a whole client. It counts in boot time: a step of the calendar neither
// shortens a wait nor makes it endless.
type limiter struct {
	clock clock.Clock

	mu     sync.Mutex
	until  time.Duration
	streak int // unnamed limits without a success between them
}

// now refuses while a limit lasts.
func (l *limiter) now() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.until - l.clock.Boot(); left > 0 {
		return &forge.LimitError{Until: l.clock.Wall().Add(left)}
	}
	return nil
}

// stop makes the client wait, and never shortens an earlier wait.
func (l *limiter) stop(wait time.Duration) *forge.LimitError {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait = min(max(wait, leastWait), longestWait)
	l.until = max(l.until, l.clock.Boot()+wait)
	return &forge.LimitError{Until: l.clock.Wall().Add(l.until - l.clock.Boot())}
}

// LimitTold stops the whole client for a limit that only the body of a 200 tells, for
// as long as the headers of that answer say, as if it had been a 429. GitHub's GraphQL
// API answers so.
func (t *Transport) LimitTold(h http.Header) *forge.LimitError {
	return t.limit.judge(&http.Response{StatusCode: http.StatusTooManyRequests, Header: h})
}

// unnamed is how long to wait for a limit that names no time.
func (l *limiter) unnamed() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.until - l.clock.Boot(); left > 0 {
		return left // several requests met the same limit
	}
	wait := min(unnamedWait<<min(l.streak, 8), unnamedMost)
	l.streak++
	return wait
}

// judge finds out whether an answer is a limit. The last request that is allowed is
// answered well, and stops the client all the same: the next would be one too many.
func (l *limiter) judge(resp *http.Response) *forge.LimitError {
	now, dated := Date(resp.Header)
	if !dated {
		now = l.clock.Wall()
	}
	after, hasAfter := retryAfter(resp.Header, now)
	reset, used := usedUp(resp.Header, now)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
	case resp.StatusCode == http.StatusForbidden && (hasAfter || used || saysLimit(resp)):
	default:
		if used && reset > 0 {
			l.stop(reset)
		}
		if resp.StatusCode < 300 {
			l.mu.Lock()
			l.streak = 0
			l.mu.Unlock()
		}
		return nil
	}
	if !hasAfter && !used {
		return l.stop(l.unnamed())
	}
	return l.stop(max(after, reset))
}

// retryAfter reads Retry-After: seconds, or a date by the forge's clock.
func retryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return seconds(n), n >= 0
	}
	at, err := http.ParseTime(text)
	return at.Sub(now), err == nil
}

// usedUp reads X-RateLimit-Remaining and -Reset, as GitHub writes them (GitLab: without
// the X): whether nothing remains, and how long that lasts. A reset in the past is no
// wait; one that is not told is as an unnamed limit.
func usedUp(h http.Header, now time.Time) (wait time.Duration, used bool) {
	for _, prefix := range []string{"X-RateLimit-", "RateLimit-"} {
		if strings.TrimSpace(h.Get(prefix+"Remaining")) != "0" {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(h.Get(prefix+"Reset")), 10, 64)
		if err != nil {
			return unnamedWait, true
		}
		if n < epochSeconds {
			return seconds(n), true
		}
		return seconds(n - now.Unix()), true
	}
	return 0, false
}

// seconds does not overflow.
func seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longestWait/time.Second))) * time.Second
}

// phrases are all that some limits of GitHub's say of themselves.
var phrases = [][]byte{[]byte("secondary rate limit"), []byte("rate limit exceeded"), []byte("abuse detection")}

func saysLimit(resp *http.Response) bool {
	text := bytes.ToLower(failure(resp))
	for _, phrase := range phrases {
		if bytes.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// Date is the forge's clock when it answered.
func Date(h http.Header) (time.Time, bool) {
	at, err := http.ParseTime(h.Get("Date"))
	return at, err == nil
}
