package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Reservation is how a claim is shown on the forge, for those that share no store.
type Reservation struct {
	Enabled Value[bool]
	// Recheck is how long to wait before the second look; zero: not at all, else both
	// ends are more than zero.
	Recheck Value[Range]
	// TTL is how long a marker counts after its last renewal. It is at least four times
	// the time that one may be posted without effect, which is a minute, or four times
	// the upper end of Recheck if that is more; and at most 366 days.
	TTL Value[time.Duration]
	// Key signs markers, and is the same on all hosts. With Enabled it is set.
	Key              Secret
	DeleteAtEnd      Value[bool]   // else the comment is edited to tell the outcome
	LockConversation Value[bool]   // while a run lives
	Ticket           Value[string] // one of tickets
}

// tickets are the ways to show the state of the work on the forge.
func tickets() []string { return []string{"none", "comment", "label"} }

// The bounds of a marker's time to live; see Reservation.TTL.
const (
	ttlMin      = 4 * time.Minute
	ttlMax      = 366 * day
	ttlRechecks = 16
)

// keyMin is the fewest bytes of a reservation key. Who reads the thread can try keys
// on its markers for as long as he likes.
const keyMin = 16

func newReservation() Reservation {
	return Reservation{
		Enabled:          byDefault(false),
		Recheck:          byDefault(Range{5 * time.Second, 15 * time.Second}),
		TTL:              byDefault(2 * time.Hour),
		DeleteAtEnd:      byDefault(true),
		LockConversation: byDefault(false),
		Ticket:           byDefault("none"),
	}
}

// parseRecheck reads how long to wait before a second look: a range as in "5s-15s",
// one duration, or "0" for not at all, which is the zero Range.
func parseRecheck(s string) (Range, error) {
	if strings.Contains(s, "-") {
		r, err := parseRange(s)
		if err != nil {
			return Range{}, fmt.Errorf("%q: %w", s, err)
		}
		return r, nil
	}
	d, err := ParseDuration(s)
	if err != nil {
		return Range{}, fmt.Errorf("%q: not a range such as 5s-15s, a duration, or 0", s)
	}
	return Range{d, d}, nil
}

func formatRecheck(r Range) string {
	switch {
	case r.Max == 0:
		return "0"
	case r.Min == r.Max:
		return slot.Span(r.Min)
	}
	return r.String()
}

// ReservationKey reads the key of the markers. Errors, a *Problems, and warnings never
// show it; that there is no key is an error.
func (c *Config) ReservationKey() (value []byte, warnings []string, err error) {
	key := c.Reservation.Key
	value, warnings, err = c.ReadSecret(key)
	if err == nil && len(value) < keyMin {
		return nil, warnings, Refuse(key.origin(), "%s: a key has at least %d bytes: who sees markers can try keys on them", key, keyMin)
	}
	return value, warnings, err
}

func (l *loader) completeReservation() {
	r := l.c.Reservation
	l.secret(r.Key, "reservation.key")
	if r.Enabled.V && !r.Key.named() {
		l.bad.add(r.Enabled.Origin, `reservation.enabled: needs reservation.key, { file = "PATH" } or { env = "NAME" }, the same on all hosts`)
	}
	if r.Enabled.V && len(l.c.Forges) == 0 {
		l.bad.add(r.Enabled.Origin, "reservation.enabled: there is no [[forge]] to write to")
	}
	// What was refused by itself is zero, and fits nothing.
	if most := r.Recheck.V.Max; r.TTL.V > 0 && r.TTL.V/ttlRechecks < most {
		l.bad.add(setBy(r.TTL.Origin, r.Recheck.Origin), "reservation.ttl: %s is less than %d times the longest recheck, which is %s",
			slot.Span(r.TTL.V), ttlRechecks, slot.Span(most))
	}
}

func (r Reservation) entries(key string) []Entry {
	list := []Entry{
		show(key+"enabled", r.Enabled, strconv.FormatBool),
		show(key+"recheck", r.Recheck, formatRecheck),
		show(key+"ttl", r.TTL, slot.Span),
	}
	if r.Key.IsSet() {
		list = append(list, r.Key.entry(key+"key."))
	}
	return append(list,
		show(key+"delete_at_end", r.DeleteAtEnd, strconv.FormatBool),
		show(key+"lock_conversation", r.LockConversation, strconv.FormatBool),
		show(key+"ticket", r.Ticket, text))
}
