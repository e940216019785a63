package gate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Hours says when work may start. They are told by the clock on the wall of their
// place: 08:00 is 08:00 in summer and in winter.
type Hours struct {
	place *time.Location
	spans []span
}

// span is one line of hours. One whose end is not after its start goes on into the
// next day, and belongs to the day it starts on.
type span struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes of the day; to is up to 24*60
}

// ParseHours reads lines such as "mon-fri 08:00-18:00", "sat,sun 22:00-06:00",
// "09:00-17:00" (every day) and "sun" (all day); it is open while one of them says
// so. tz names a place of the IANA database, such as Europe/Berlin; empty is the
// machine's. Errors match slot.ErrUsage.
func ParseHours(lines []string, tz string) (Hours, error) {
	h := Hours{place: time.Local}
	if tz != "" {
		place, err := time.LoadLocation(tz)
		if err != nil {
			return Hours{}, fmt.Errorf("%w: tz %q: %v", slot.ErrUsage, tz, err)
		}
		h.place = place
	}
	for _, line := range lines {
		s, why := parseSpan(strings.ToLower(line))
		if why != "" {
			return Hours{}, fmt.Errorf(`%w: hours %q: %s; expected such as "mon-fri 08:00-18:00"`, slot.ErrUsage, line, why)
		}
		h.spans = append(h.spans, s)
	}
	if len(h.spans) == 0 {
		return Hours{}, fmt.Errorf("%w: hours: none are given", slot.ErrUsage)
	}
	return h, nil
}

func parseSpan(line string) (s span, why string) {
	words := strings.Fields(line)
	if len(words) == 0 || len(words) > 2 {
		return s, "needs days, times or both"
	}
	s = span{days: [7]bool{true, true, true, true, true, true, true}, to: 24 * 60}
	if times := words[len(words)-1]; strings.Contains(times, ":") {
		words = words[:len(words)-1]
		from, to, _ := strings.Cut(times, "-")
		var ok1, ok2 bool
		s.from, ok1 = minuteOf(from)
		s.to, ok2 = minuteOf(to)
		switch {
		case !ok1 || !ok2 || s.from == 24*60:
			return s, "the times are not from 00:00 to 24:00"
		case s.from == s.to:
			return s, "it ends where it starts"
		}
	}
	if len(words) == 1 {
		return s, s.setDays(words[0])
	}
	if len(words) > 1 {
		return s, "the times are missing"
	}
	return s, ""
}

func (s *span) setDays(list string) (why string) {
	s.days = [7]bool{}
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, to := weekday(first), weekday(last)
		if from < 0 || to < 0 {
			return fmt.Sprintf("%q is no day; days are mon tue wed thu fri sat sun", part)
		}
		for d := from; ; d = (d + 1) % 7 {
			s.days[d] = true
			if d == to {
				break
			}
		}
	}
	return ""
}

func weekday(name string) int {
	for d := range 7 {
		if strings.EqualFold(time.Weekday(d).String()[:3], name) {
			return d
		}
	}
	return -1
}

func minuteOf(s string) (int, bool) {
	h, m, _ := strings.Cut(s, ":")
	if len(h) < 1 || len(h) > 2 || len(m) != 2 || strings.Trim(h+m, "0123456789") != "" {
		return 0, false
	}
	hour, _ := strconv.Atoi(h)
	min, _ := strconv.Atoi(m)
	return hour*60 + min, min < 60 && hour*60+min <= 24*60
}

// Open reports whether work may start at t.
func (h Hours) Open(t time.Time) bool {
	t = t.In(h.place)
	minute, today := t.Hour()*60+t.Minute(), t.Weekday()
	for _, s := range h.spans {
		over := s.to < s.from // into the next day
		switch {
		case s.days[today] && minute >= s.from && (over || minute < s.to),
			over && s.days[(today+6)%7] && minute < s.to:
			return true
		}
	}
	return false
}

// Next is the first minute from t on when it is open. It looks at each minute, since
// that needs no rule about what a change of the clocks skips or repeats. A span
// within a skipped hour opens a week later.
func (h Hours) Next(t time.Time) time.Time {
	const week = 7 * 24 * 60
	if h.Open(t) {
		return t
	}
	t = t.Truncate(time.Minute)
	for range 2*week + 1 {
		if t = t.Add(time.Minute); h.Open(t) {
			break
		}
	}
	return t
}

type hours struct {
	Hours
	clock clock.Clock

	mu     sync.Mutex
	closed [2]time.Time // a stretch that Next has found: from, to
}

// NewHours is the gate "hours": outside of them it defers until they begin.
func NewHours(h Hours, c clock.Clock) Gate { return &hours{Hours: h, clock: c} }

func (g *hours) Type() string { return "hours" }

func (g *hours) Ask(context.Context, Ask) Answer {
	now := g.clock.Wall()
	if g.Open(now) {
		return proceed("hours", "open", "")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Before(g.closed[0]) || !now.Before(g.closed[1]) {
		g.closed = [2]time.Time{now, g.Next(now)}
	}
	ans := deferral("hours", "closed", "open again at "+g.closed[1].In(g.place).Format("Mon 2006-01-02 15:04 MST"))
	ans.Until = g.closed[1]
	return ans
}
