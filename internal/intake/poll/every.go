package poll

import (
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// schedule makes the scheduled events: one for each open ref and rule in each period.
// Periods of different refs begin at different times, so that not all of them start at
// once; and always at the same, so that a restart makes no new one.
func (p *pass) schedule() {
	for ref, t := range p.threads {
		if t.vagueHead() {
			continue // what rules match is not known yet
		}
		for i, e := range p.o.Every {
			if e.Each <= 0 {
				continue
			}
			n := period(p.now, e, ref)
			if i < len(t.slots) && t.slots[i] >= n {
				continue
			}
			f := p.event(t, slot.Scheduled, mark.Fingerprint(slot.Scheduled, strconv.FormatInt(n, 10), e.Each.String(), e.Rule))
			f.Rule = e.Rule
			p.add(f)
			p.after(func() {
				for len(t.slots) <= i {
					t.slots = append(t.slots, 0)
				}
				t.slots[i] = n
			})
		}
	}
}

// period numbers the periods of a rule for a ref, by the wall clock.
func period(now time.Time, e Every, ref slot.Ref) int64 {
	phase := int64(sumOf(ref.String(), e.Rule) % uint64(e.Each))
	return (now.UnixNano() - phase) / int64(e.Each)
}
