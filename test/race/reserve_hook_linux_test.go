package race

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// apartConfig is what two daemons need to see each other's reservations.
const apartConfig = `
[[forge]]
host  = "github.com"
type  = "github"
api   = %q
token = { env = "RACE_FORGE_TOKEN" }
repos = ["octo-org/*"]
%s

[reservation]
enabled = true
recheck = "300ms-600ms"
key     = { env = "RACE_KEY" }

[limits]`

// C01, C03: two daemons with stores of their own hear of one issue, both by its
// webhook, or one of them by its timer. There is one worker; the other daemon puts its
// work off, and drops it once the issue is closed. Nobody has to switch one of them
// off.
func TestC01_TwoDaemonsApart(t *testing.T) {
	t.Parallel()
	const off, timer = "", `poll = "5s"`
	cases := map[string]func(*testing.T){}
	for name, tt := range map[string]struct {
		poll  string
		later time.Duration
	}{"at once": {off, 0}, "half a second later": {off, 500 * time.Millisecond}, "by a timer": {timer, 0}} {
		cases[name] = func(t *testing.T) {
			world, api := forgetest.NewGitHub(t, nil)
			world.SetReads(forgetest.Reads{Lag: forgetest.Range{Max: late}, Counter: true})
			world.AddRepo(repo)
			world.AddUser(forgetest.User{Login: "octocat", Token: "of-nobody-here", Writer: true, Association: "member"})
			at := world.AddIssue(repo, "octocat", "a", "")
			end := filepath.Join(t.TempDir(), "go")
			var all []*daemons
			for n, login := range []string{"alice", "bob"} {
				world.AddUser(forgetest.User{Login: login, Token: "token-of-" + login, Writer: true, Association: "member"})
				d := newDaemons(t, plainProgram, roleVar+"=worker", untilVar+"="+end, nameVar+"=worker",
					"RACE_FORGE_TOKEN=token-of-"+login, "RACE_KEY=a key that both daemons have")
				every := off
				if n == 1 {
					every = tt.poll
				}
				d.set("[limits]", fmt.Sprintf(apartConfig, api, every))
				d.serve()
				all = append(all, d)
			}
			world.Label(at, "go", true, "octocat")
			r := issue(t, at.Number)
			go all[0].deliver("g-1", labeled(r, "a"), true)
			time.Sleep(tt.later)
			if tt.poll == off {
				all[1].deliver("g-1", labeled(r, "a"), true)
			}
			var first, second *daemons
			poll(t, patience, "one works, and the other waits", func() bool {
				for i, d := range all {
					if it := d.itemOrNone(r); it.State == queue.Pending && it.Reason == "reservation: held" {
						first, second = all[1-i], d
					}
				}
				return second != nil && first.itemOrNone(r).State == queue.Running
			})
			first.started("worker")
			if it := second.itemOrNone(r); it.Attempts != 0 || !strings.Contains(it.Detail, "host ") {
				t.Errorf("it waits with %+v", it)
			}
			world.Close(at, "octocat")
			touch(t, end)
			for _, d := range all {
				d.drained(r)
				d.end()
				d.gone()
			}
			if n := starts(append(first.fresh(), second.fresh()...)); n != 1 {
				t.Errorf("%d workers", n)
			}
			events, err := second.db.Queue().Events(second.ctx, queue.Filter{Ref: r})
			if err != nil || len(events) == 0 {
				t.Fatal(events, err)
			}
			for _, e := range events {
				if e.State != queue.EventSkipped && e.State != queue.EventSuperseded {
					t.Errorf("%s is %s (%s)", e.ID, e.State, e.Reason)
				}
			}
			if left := world.Comments(at); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
	together(t, cases)
}

// itemOrNone is the ref's work item, if it has one by now.
func (d *daemons) itemOrNone(r slot.Ref) queue.Item {
	items, err := d.db.Queue().Items(d.ctx, queue.Filter{Ref: r})
	if err != nil || len(items) != 1 {
		return queue.Item{}
	}
	return items[0]
}
