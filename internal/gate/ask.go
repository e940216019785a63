package gate

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/oneslot/oneslot/internal/slot"
)

// lateMax bounds how many asks of one gate may hang at a time. Beyond that it is
// not asked: whatever hangs would only hang once more.
const lateMax = 4

// ask asks one gate within its time limit.
func (e *entry) ask(ctx context.Context, a Ask) Answer {
	ans, in := within(ctx, e, func(ctx context.Context) Answer { return e.Gate.Ask(ctx, a) }, func(Answer) {})
	if !in {
		return e.silent()
	}
	return ans
}

func (e *entry) silent() Answer {
	if e.late.Load() >= lateMax {
		return unknown(e.Type(), "earlier asks have not come back yet")
	}
	return unknown(e.Type(), "no answer within "+slot.Span(e.Timeout))
}

// within calls f and waits for it no longer than the entry's limit, even if f does
// not look at its context. An answer that comes too late is given to drop.
func within[T any](ctx context.Context, e *entry, f func(context.Context) T, drop func(T)) (ans T, in bool) {
	if e.late.Load() >= lateMax {
		return ans, false
	}
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	var taken atomic.Bool // by whoever is first: the answer, or the end of the wait
	got := make(chan T, 1)
	go func() {
		ans := f(ctx)
		if taken.CompareAndSwap(false, true) {
			got <- ans
			return
		}
		drop(ans)
		e.late.Add(-1)
	}()
	select {
	case ans = <-got:
		return ans, true
	case <-ctx.Done():
		// A gate that minds its context knows best why it could not answer.
		select {
		case ans = <-got:
			return ans, true
		case <-time.After(manners):
		}
		e.late.Add(1)
		if taken.CompareAndSwap(false, true) {
			return ans, false
		}
		e.late.Add(-1)
		return <-got, true
	}
}

// manners is how long after its limit a gate may still say why it failed.
const manners = 50 * time.Millisecond

func unknown(gateType, detail string) Answer {
	return Answer{Verdict: slot.Unknown, Reason: gateType + ": unknown", Detail: detail}
}

// cannotName is the answer for a ref that a configured text has no place for: it is
// none of the gate's, or (a name that is not to be trusted) nobody can tell.
func cannotName(gateType string, err error) Answer {
	if errors.Is(err, slot.ErrNoPart) {
		return Answer{Detail: err.Error()}
	}
	return unknown(gateType, err.Error())
}

func proceed(gateType, word, detail string) Answer {
	return Answer{Verdict: slot.Proceed, Reason: gateType + ": " + word, Detail: detail}
}

func deferral(gateType, words, detail string) Answer {
	return Answer{Verdict: slot.Defer, Reason: gateType + ": " + words, Detail: detail}
}

// detailMax bounds the evidence of one gate, in bytes.
const detailMax = 400

// clip makes a foreign text fit for a record and a terminal: one line, no controls,
// not too long.
func clip(s string) string {
	if len(s) > detailMax {
		s = strings.ToValidUTF8(s[:detailMax], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// after puts s behind a mark, if there is any s.
func after(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}
