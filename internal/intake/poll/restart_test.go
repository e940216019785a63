package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// C26: what happened while nobody was there is found at the first tick after; and when
// all of it is sent once more, nothing is done again.
func TestC26_WhatAStoppedDaemonMissed(t *testing.T) {
	for _, partial := range []bool{false, true} {
		t.Run(fmt.Sprintf("partial=%v", partial), func(t *testing.T) {
			in(t, nil, func(b *bench) {
				b.partial = partial
				i := issue(1)
				i.Labels = []string{"old"}
				for _, t := range []forge.Thread{i, issue(2), pull(3), pull(4)} {
					b.put(t)
				}
				b.checks[sha(3)], b.checks[sha(4)] = []forge.Check{passing("1", "test")}, []forge.Check{passing("1", "test")}
				time.Sleep(time.Hour)
				b.want(b.tick(), "labeled #1")
				b.want(b.tick(), "")

				time.Sleep(time.Hour) // it is stopped
				b.edit(ref(1), func(t *forge.Thread) { t.Labels = append(t.Labels, "new") })
				b.say(ref(2), 5, author, "/run")
				b.checks[sha(4)] = []forge.Check{failing("2", "test")} // which moves no time
				b.end(3, forge.Merged)
				b.put(issue(5))

				time.Sleep(time.Hour)
				b.restart()
				if err := b.Tick(b.Context()); err != nil {
					b.Error(err)
				}
				// What an issue had before, or was edited to, cannot be told any more.
				b.want(b.news(), "ci_failed #4!, command #2, edited #1, edited #2, labeled #1, labeled #1, merged #3, opened #5")
				for range 3 {
					b.restart()
					if err := b.Tick(b.Context()); err != nil {
						b.Error(err)
					}
					b.want(b.news(), "") // all is sent once more, and known
				}
			})
		})
	}
}

// C26: after a change of very many threads a restart tells of none of them anew, nor does
// the one after it; what happened since is told.
func TestC26_RestartAfterAChangeOfVeryMany(t *testing.T) {
	for _, many := range []int{maxPast - 100, maxPast + 100} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			in(t, []slot.EventKind{slot.Labeled, slot.Edited, slot.Pushed, slot.Ready, slot.Closed, slot.Command}, func(b *bench) {
				for n := range many {
					b.put(pull(n + 1))
				}
				time.Sleep(time.Hour)
				b.tick()
				time.Sleep(time.Hour)
				for n := range many {
					b.edit(ref(n+1), func(t *forge.Thread) { t.Labels = []string{"release"} })
					if n%20 == 0 {
						time.Sleep(time.Second)
					}
				}
				b.end(2, forge.Closed)
				time.Sleep(5 * time.Second)
				if err := b.Tick(b.Context()); err != nil {
					b.Error(err)
				}
				if n := strings.Count(b.news(), "labeled"); n != many-1 {
					b.Errorf("%d of %d labels", n, many)
				}
				for range 3 * rotate {
					b.want(b.tick(), "")
				}
				for range 3 {
					b.restart()
					b.want(b.tick(), "")
					time.Sleep(time.Hour)
				}
				b.say(ref(1), 5, author, "/run")
				b.end(3, forge.Closed)
				time.Sleep(time.Hour)
				b.restart()
				if err := b.Tick(b.Context()); err != nil {
					b.Error(err)
				}
				b.want(b.news(), "closed #3, command #1, edited #1, labeled #1, pushed #1, ready #1")
				for range 2 {
					b.restart()
					b.want(b.tick(), "")
				}
			})
		})
	}
}

// C26: two restarts within a minute tell of nothing twice.
func TestC26_TwoRestartsInAMinute(t *testing.T) {
	in(t, []slot.EventKind{slot.Edited, slot.Labeled}, func(b *bench) {
		b.put(issue(1))
		b.put(issue(2))
		time.Sleep(time.Hour)
		b.tick()
		time.Sleep(time.Hour)
		for _, step := range []struct {
			n    int
			want string
		}{{1, "labeled #1"}, {2, "edited #2, labeled #2"}, {0, ""}} {
			if step.n > 0 {
				b.edit(ref(step.n), func(t *forge.Thread) { t.Labels = []string{"agent"} })
			}
			time.Sleep(5 * time.Second)
			if step.n != 1 {
				b.restart()
			}
			if err := b.Tick(b.Context()); err != nil {
				b.Error(err)
			}
			b.want(b.news(), step.want)
		}
	})
}

// gapped has something happen between the list of changes and that of what is open.
type gapped struct {
	*fake
	between func()
}

func (g *gapped) Open(ctx context.Context, repo string) ([]forge.Thread, error) {
	if f := g.between; f != nil {
		g.between = nil
		f()
	}
	return g.fake.Open(ctx, repo)
}

// P4, C26: what happens between the two lists of a start is in the second alone, and is
// news all the same; also of what was in the first.
func TestC26_BetweenTheListsOfAStart(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known=%v", known), func(t *testing.T) {
			in(t, []slot.EventKind{slot.Opened, slot.Labeled, slot.Closed}, func(b *bench) {
				for n := range 3 {
					b.put(issue(n + 1))
				}
				time.Sleep(time.Hour)
				if known {
					b.want(b.tick(), "")
					b.want(b.tick(), "")
					time.Sleep(time.Hour)
				}
				label := func(n int, name string) {
					b.edit(ref(n), func(t *forge.Thread) { t.Labels = append(t.Labels, name) })
				}
				label(3, "old")
				time.Sleep(5 * time.Second)
				b.o.Sources[0].Client = &gapped{b.fake, func() {
					time.Sleep(5 * time.Second)
					i := issue(7)
					i.Labels = []string{"agent"}
					b.put(i)
					label(1, "agent")
					label(3, "new")
					b.end(2, forge.Closed)
				}}
				b.restart()
				var all []string
				for range 5 {
					if err := b.Tick(b.Context()); err != nil {
						b.Error(err)
					}
					if news := b.news(); news != "" {
						all = append(all, strings.Split(news, ", ")...)
					}
					time.Sleep(time.Minute)
				}
				slices.Sort(all)
				b.want(strings.Join(all, ", "), "closed #2, labeled #1, labeled #3, labeled #3, labeled #7, opened #7")
			})
		})
	}
}

// P4: killed at any moment between a find and its cursor, the find is made again.
func TestP4_ACursorMovesOnlyBehindTheSink(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened, slot.CIFailed}, func(b *bench) {
		b.tick()
		saved := fmt.Sprint(b.cursors)
		b.desk.broken = errors.New("disk full")
		b.put(issue(1))
		b.put(pull(2))
		b.checks[sha(2)] = []forge.Check{failing("1", "test")}
		failed := 0
		for range 4 {
			time.Sleep(time.Minute)
			if err := b.Tick(b.Context()); err != nil {
				failed++
			}
		}
		if failed != 3 { // one is somebody else's turn
			b.Errorf("%d ticks told that their finds are nowhere", failed)
		}
		if fmt.Sprint(b.cursors) != saved {
			b.Error("the cursor moved")
		}
		b.desk.broken = nil
		want := "ci_failed #2!, opened #1, opened #2"
		b.want(b.soon(), want)

		// Killed after the sink, before the cursor.
		b.desk.cursors = map[string]string{}
		b.restart()
		if err := b.Tick(b.Context()); err != nil {
			b.Error(err)
		}
		b.want(b.news(), "")
	})
}

// A repository that nobody ever polled: what is true now counts, and what stands on its
// threads; what happened before does not.
func TestTheFirstTickEver(t *testing.T) {
	in(t, nil, func(b *bench) {
		i := issue(1)
		i.Labels, i.Assignees, i.Body = []string{"agent"}, []string{"ann", "our-bot"}, "please, @our-bot"
		b.put(i)
		b.say(ref(1), 5, author, "/run")
		p := pull(2)
		p.Mergeable = "conflict"
		b.put(p)
		b.checks[sha(2)] = []forge.Check{passing("1", "lint"), failing("2", "test")}
		b.reviews[ref(2)] = forge.Reviews{Reviews: []forge.Review{
			{ID: 8, Author: author, State: "approved", At: time.Now()},
			{ID: 9, Author: forge.Person{Login: "ann"}, State: "changes_requested", At: time.Now()},
		}}
		time.Sleep(time.Hour)
		b.want(b.tick(), "assigned #1, changes_requested #2!, ci_failed #2!, conflict #2!, labeled #1, mentioned #1")
		b.want(b.tick(), "")

		// From then on all of it.
		b.checks[sha(2)][0] = passing("3", "lint")
		b.edit(ref(2), func(*forge.Thread) {})
		b.want(b.soon(), "ci_passed #2")
	})
}

// C26: what comes in the second of the first tick ever has no new time, and is found.
func TestC26_InTheSecondOfTheFirstTick(t *testing.T) {
	in(t, nil, func(b *bench) {
		b.put(issue(1))
		b.want(b.tick(), "")
		b.say(ref(1), 5, author, "/run")
		b.want(b.tick(), "command #1")
	})
}

// An edit of a comment that moves no time of the thread is found in its turn.
func TestEditsThatMoveNothing(t *testing.T) {
	in(t, []slot.EventKind{slot.Commented}, func(b *bench) {
		b.put(issue(1))
		b.say(ref(1), 5, author, "hello")
		time.Sleep(time.Hour)
		b.want(b.tick(), "")
		c := &b.comments[ref(1)][0]
		c.Body, c.Updated = "/run", time.Now()
		c.UpdatedText = written(c.Updated)
		var found string
		for range 3 * rotate {
			found += b.tick()
		}
		b.want(found, "comment #1")
	})
}

// Scheduled events: one for each open ref, rule and period, whatever restarts.
func TestEvery(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.o.Every = []Every{{Rule: "sweep", Each: time.Hour}, {Rule: "nightly", Each: 24 * time.Hour}}
		b.put(issue(1))
		b.put(pull(2))
		closed := issue(3)
		closed.State = forge.Closed
		b.put(closed)
		b.restart()
		time.Sleep(30 * time.Minute)
		if err := b.Tick(b.Context()); err != nil {
			b.Fatal(err)
		}
		rules := map[string]int{}
		for _, f := range b.events() {
			rules[f.Rule+f.Ref.String()]++
			if f.Kind != slot.Scheduled || f.Fingerprint == "" || f.Facts.Author != "octo" || f.Facts.Pull && f.Facts.Base != "main" {
				b.Errorf("%+v", f)
			}
		}
		if len(rules) != 4 {
			b.Errorf("%v", rules)
		}
		n := 0
		for range 24 * 60 {
			b.tick2(&n)
			b.restart()
		}
		// In a day each ref has 24 more of the one, and 1 of the other.
		if n != 2*24+2 {
			b.Errorf("%d in a day", n)
		}
	})
}

func (b *bench) tick2(n *int) {
	time.Sleep(time.Minute)
	if err := b.Tick(b.Context()); err != nil {
		b.Error(err)
	}
	*n += len(b.events())
}

// Failed deliveries are asked for once after a start, and then rarely, instead of
// something else.
func TestRedeliver(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/octo/two"})
		b.o.Sources[0].Redeliver = func(repo string) bool { return repo == name }
		asked := 0
		for range 24 * 60 {
			b.tick()
			calls := b.asked()
			for _, call := range calls {
				if strings.HasPrefix(call, "redeliver") {
					asked++
				}
			}
			if asked > 1 && len(calls) > 3 {
				b.Errorf("calls %q", calls)
			}
		}
		if asked != 4 {
			b.Errorf("asked %d times in a day", asked)
		}
	})
}
