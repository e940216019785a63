package api

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// Bounds of wrong tokens.
const (
	failsMax   = 10 // in a row, before a source is turned away
	failsEvery = time.Minute / 10
	sourcesMax = 4096 // that are remembered
)

// limiter counts failures by source. One failure is forgiven each failsEvery.
type limiter struct {
	mu   sync.Mutex
	free map[netip.Prefix]time.Time // when all failures of the source are forgiven
	now  func() time.Time

	swept time.Time
}

func newLimiter() *limiter { return &limiter{free: map[netip.Prefix]time.Time{}, now: time.Now} }

// may reports whether the source has a try left.
func (l *limiter) may(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.free[from].Sub(l.now()) < failsMax*failsEvery
}

// failed counts one failure of the source.
func (l *limiter) failed(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.free) >= sourcesMax {
		l.forget(now)
	}
	until := l.free[from]
	if until.Before(now) {
		until = now
	}
	l.free[from] = until.Add(failsEvery)
}

// forget drops the sources that are forgiven, looking no more often than one can
// be, and any other one if that made no room.
func (l *limiter) forget(now time.Time) {
	if now.Sub(l.swept) >= failsEvery {
		l.swept = now
		maps.DeleteFunc(l.free, func(_ netip.Prefix, until time.Time) bool { return !until.After(now) })
	}
	for from := range l.free {
		if len(l.free) < sourcesMax {
			return
		}
		delete(l.free, from)
	}
}
