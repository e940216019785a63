package poll

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// A new configuration with the same forge reads nothing anew, and forgets no limit.
func TestANewConfigurationKeepsWhatIsKnown(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed, slot.Opened}, func(b *bench) {
		for n := range 10 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = []forge.Check{passing("1", "test")}
		}
		time.Sleep(time.Hour)
		b.tick()
		b.asked()
		adopt := func(afresh bool) {
			old := b.Poller
			b.restart()
			b.Adopt(old, afresh)
		}
		b.put(issue(20))
		adopt(false)
		b.want(b.soon(), "opened #20")
		if calls := b.asked(); len(calls) > 2 {
			b.Errorf("%q", calls)
		}
		adopt(true)
		b.tick()
		if n := strings.Count(strings.Join(b.asked(), " "), "checks"); n != 10+1 && n != 10 {
			b.Errorf("%d looks at pull requests", n)
		}

		// Another list of repositories is read, and those that stay are known.
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/other/two", Default: "main"})
		b.o.Sources[0].Repos = []string{"octo/*", "other/*"}
		adopt(false)
		b.tick()
		calls := strings.Join(b.asked(), " ")
		if !strings.Contains(calls, "open other/two") || strings.Contains(calls, "open octo/hello") {
			b.Error(calls)
		}

		b.fail["changed"] = &forge.LimitError{Until: time.Now().Add(time.Hour)}
		time.Sleep(2 * time.Minute)
		for range 3 {
			b.Tick(b.Context()) //nolint:errcheck // it fails in the end
		}
		adopt(false)
		b.asked()
		if err := b.Tick(b.Context()); !errors.Is(err, forge.ErrLimited) || len(b.asked()) > 0 {
			b.Errorf("the limit is forgotten: %v", err)
		}
		b.o.Sources[0].Client = newFake("octo/hello") // which is asked as nobody yet was
		adopt(false)
		if err := b.Tick(b.Context()); err != nil {
			b.Error(err)
		}
	})
}
