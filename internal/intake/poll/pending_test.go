package poll

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// A head without checks gets some in a while; one whose check never ends is no reason
// to ask in each tick for ever.
func TestPendingSettles(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		b.put(pull(1))
		b.tick()
		b.checks[sha(1)] = []forge.Check{{Name: "test", State: forge.Pending, ID: "1"}}
		b.tick()
		b.asked()
		b.tick()
		if calls := b.asked(); len(calls) != 2 {
			b.Errorf("calls %q", calls)
		}
		time.Sleep(settlePending)
		b.tick()
		b.asked()
		b.tick()
		if calls := b.asked(); len(calls) != 1 {
			b.Errorf("calls %q", calls)
		}
	})
}

// Checks that never end cost no more than quiet repositories do, but for the first
// minutes; the fewer they are the sooner their end is found.
func TestPendingIsLookedAtLessAndLess(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		pending := []forge.Check{{Name: "test", State: forge.Pending, ID: "1"}}
		for n := range 50 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = pending
		}
		b.tick()
		b.asked()
		for range int(freshFor/time.Minute) - 1 {
			b.tick()
		}
		if calls := b.asked(); len(calls) < 4*50 {
			b.Errorf("%d calls in the first minutes", len(calls))
		}
		b.tick()
		b.asked()
		for range 180 {
			b.tick()
			calls := slices.DeleteFunc(b.asked(), func(c string) bool { return strings.HasPrefix(c, "repos") }) // once an hour
			if len(calls) > 1 {
				b.Fatalf("%q", calls)
			}
		}
		// A change makes it hot again, for a few minutes, and no other.
		b.checks[sha(7)] = append(slices.Clone(pending), forge.Check{Name: "lint", State: forge.Pending, ID: "2"})
		b.edit(ref(7), func(t *forge.Thread) { t.Title = "new" })
		b.tick()
		b.tick()
		b.asked()
		for range 2 {
			if b.tick(); len(b.asked()) != 2 {
				b.Error("it is not looked at")
			}
		}
		b.checks[sha(7)] = []forge.Check{failing("1", "test")}
		b.want(b.tick(), "ci_failed #7!")
	})
}

// One check that takes long is found failed soon after it did.
func TestALongCheckIsFound(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		for n := range 20 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = []forge.Check{passing("1", "test")}
		}
		b.checks[sha(7)] = []forge.Check{{Name: "test", State: forge.Pending, ID: "1"}}
		for range 60 {
			b.want(b.tick(), "")
		}
		b.checks[sha(7)] = []forge.Check{failing("1", "test")}
		for range 12 {
			if s := b.tick(); s != "" {
				b.want(s, "ci_failed #7!")
				return
			}
		}
		b.Error("not found in twelve minutes")
	})
}

// Where something always goes on, what moves no time of update has its turn, too.
func TestABusyRepositoryForgetsNobody(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		for n := range 5 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = []forge.Check{passing("1", "test")}
		}
		b.tick()
		b.checks[sha(5)] = []forge.Check{failing("2", "test")}
		found := ""
		for i := range 10 * rotate {
			b.checks[sha(1)] = []forge.Check{{Name: "test", State: forge.Pending, ID: fmt.Sprint(i)}}
			b.edit(ref(1), func(t *forge.Thread) { t.Title = fmt.Sprint(i) })
			found += b.tick()
		}
		b.want(found, "ci_failed #5!")
	})
}
