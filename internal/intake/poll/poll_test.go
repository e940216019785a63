package poll

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// in runs a test in a bubble whose time is its own.
func in(t *testing.T, kinds []slot.EventKind, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newBench(t, kinds...)) })
}

// A quiet repository costs one request per tick, whatever the forge knows of ETags.
func TestQuietTicksCostOneRequest(t *testing.T) {
	for _, etags := range []bool{true, false} {
		for _, partial := range []bool{true, false} {
			t.Run(fmt.Sprintf("etags=%v/partial=%v", etags, partial), func(t *testing.T) {
				in(t, nil, func(b *bench) {
					b.etags, b.partial = etags, partial
					for n := range 5 {
						b.put(pull(n + 1))
						b.checks[sha(n+1)] = []forge.Check{passing("1", "test")}
					}
					b.put(issue(9))
					time.Sleep(time.Hour)
					b.tick()
					b.tick()
					b.asked()
					looks := 0
					for range 40 {
						b.want(b.tick(), "")
						calls := b.asked()
						if len(calls) != 1 {
							b.Fatalf("calls %q", calls)
						}
						if !strings.HasPrefix(calls[0], "changed") {
							looks++
						}
					}
					if looks != 40/rotate {
						b.Errorf("%d looks in 40 ticks", looks)
					}
				})
			})
		}
	}
}

// A look that costs two requests takes up two ticks.
func TestALookIsPaidFor(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		b.o.Sources[0].Look = 2
		b.put(pull(1))
		b.checks[sha(1)] = []forge.Check{passing("1", "test")}
		b.tick()
		b.tick()
		b.asked()
		cost := 0
		for range 40 {
			b.tick()
			for _, call := range b.asked() {
				if cost++; strings.HasPrefix(call, "checks") {
					cost++
				}
			}
		}
		if cost > 40 {
			b.Errorf("%d requests in 40 ticks", cost)
		}
	})
}

// What moves no time of update is found: at once where something is pending, else in
// turn.
func TestChecksFlipWithoutAnUpdate(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		b.etags = true
		for n := range 3 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = []forge.Check{passing("1", "test")}
		}
		b.checks[sha(1)] = []forge.Check{{Name: "test", State: forge.Pending, ID: "1"}}
		b.commits = []forge.Commit{{Sha: sha(50), At: time.Now()}}
		b.checks[sha(50)] = []forge.Check{passing("7", "nightly")}
		b.want(b.tick(), "")
		b.checks[sha(1)] = []forge.Check{failing("1", "test")}
		b.want(b.tick(), "ci_failed #1!")

		b.checks[sha(2)] = []forge.Check{failing("2", "test")}
		b.checks[sha(50)] = []forge.Check{failing("8", "nightly")}
		var found []string
		for range 24 * rotate {
			if s := b.tick(); s != "" {
				found = append(found, s)
			}
		}
		slices.Sort(found)
		if want := []string{"ci_failed #2!", "ci_failed @main:nightly!"}; !slices.Equal(found, want) {
			b.Errorf("found %q", found)
		}
	})
}

// What is true stays found, so that the queue can judge it again after a while; and more
// often than what was well when it was looked at.
func TestConditionsAreHandedOnAgain(t *testing.T) {
	in(t, []slot.EventKind{slot.CIFailed}, func(b *bench) {
		for n := range 20 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = []forge.Check{passing("1", "test")}
		}
		b.checks[sha(1)] = []forge.Check{failing("1", "test")}
		b.want(b.tick(), "ci_failed #1!")
		before := b.again
		for range 40 * rotate {
			b.want(b.tick(), "")
		}
		if n := b.again - before; n < 5 {
			b.Errorf("handed on %d times in 40 looks", n)
		}
	})
}

// A person's changes come before a bot's.
func TestAPersonsReviewComesFirst(t *testing.T) {
	in(t, []slot.EventKind{slot.ChangesRequested, slot.CIFailed}, func(b *bench) {
		who := map[int]forge.Person{1: {Login: "robot[bot]", Bot: true}, 2: {Login: "ann"}, 3: {Login: "robot[bot]", Bot: true}}
		for n := range 3 {
			b.put(pull(n + 1))
			b.checks[sha(n+1)] = []forge.Check{failing("1", "test")}
			b.reviews[ref(n+1)] = forge.Reviews{Reviews: []forge.Review{{ID: int64(n + 1), Author: who[n+1], State: "changes_requested", At: time.Now()}}}
		}
		b.restart()
		if err := b.Tick(b.Context()); err != nil {
			b.Fatal(err)
		}
		list := b.events()
		if len(list) != 6 || list[0].Ref != ref(2) || list[0].Kind != slot.ChangesRequested || !list[0].Condition {
			b.Fatalf("%+v", list)
		}
		for _, f := range list[4:] {
			if f.Kind != slot.ChangesRequested || !f.Facts.Bot {
				b.Errorf("last is %+v", f)
			}
		}
	})
}

// Each kind is found where it happens, and none is where nothing does (P9).
func TestWhatIsFound(t *testing.T) {
	for _, partial := range []bool{false, true} {
		for name, tt := range map[string]struct {
			do   func(b *bench)
			want string
		}{
			"opened":           {func(b *bench) { b.put(issue(8)) }, "opened #8"},
			"opened, labelled": {func(b *bench) { i := issue(8); i.Labels = []string{"bug"}; b.put(i) }, "labeled #8, opened #8"},
			"closed":           {func(b *bench) { b.end(1, forge.Closed) }, "closed #1"},
			"merged":           {func(b *bench) { b.end(2, forge.Merged) }, "merged #2"},
			"labelled":         {func(b *bench) { b.edit(ref(1), func(t *forge.Thread) { t.Labels = []string{"old", "new"} }) }, "labeled #1"},
			"unlabelled":       {func(b *bench) { b.edit(ref(1), func(t *forge.Thread) { t.Labels = nil }) }, ""},
			"assigned":         {func(b *bench) { b.edit(ref(1), func(t *forge.Thread) { t.Assignees = []string{"our-bot"} }) }, "assigned #1"},
			"review asked":     {func(b *bench) { b.edit(ref(2), func(t *forge.Thread) { t.Reviewers = []string{"our-bot"} }) }, "review_requested #2"},
			"edited":           {func(b *bench) { b.edit(ref(1), func(t *forge.Thread) { t.Title = "new" }) }, "edited #1"},
			"pushed": {func(b *bench) {
				b.edit(ref(2), func(t *forge.Thread) { t.Head.Sha = sha(99) })
				b.checks[sha(99)] = []forge.Check{passing("1", "test")}
			}, "ci_passed #2, pushed #2"},
			"ready":            {func(b *bench) { b.edit(ref(3), func(t *forge.Thread) { t.Draft = false }) }, "ready #3"},
			"conflict":         {func(b *bench) { b.edit(ref(2), func(t *forge.Thread) { t.Mergeable = "conflict" }) }, "conflict #2!"},
			"mentioned":        {func(b *bench) { b.edit(ref(1), func(t *forge.Thread) { t.Body = "@our-bot?" }) }, "edited #1, mentioned #1"},
			"quoted":           {func(b *bench) { b.edit(ref(1), func(t *forge.Thread) { t.Body = "> @our-bot?" }) }, "edited #1"},
			"comment":          {func(b *bench) { b.say(ref(1), 5, author, "hello") }, "comment #1"},
			"mention":          {func(b *bench) { b.say(ref(1), 5, author, "hello @our-bot") }, "mentioned #1"},
			"command":          {func(b *bench) { b.say(ref(1), 5, author, "/run fast") }, "command #1"},
			"command in quote": {func(b *bench) { b.say(ref(1), 5, author, "> /run fast") }, "comment #1"},
			"approved":         {func(b *bench) { b.judge("approved", "") }, "approved #2"},
			"changes":          {func(b *bench) { b.judge("changes_requested", "") }, "changes_requested #2!"},
			"changes, command": {func(b *bench) { b.judge("changes_requested", "/run") }, "changes_requested #2!, command #2"},
			"dismissed":        {func(b *bench) { b.judge("dismissed", "") }, ""},
			"thread": {func(b *bench) {
				c := forge.Comment{ID: 70, Author: author, Created: time.Now(), Updated: time.Now()}
				b.reviews[ref(2)] = forge.Reviews{Known: true, Unresolved: []forge.Talk{{ID: "x", Last: c}}}
				b.edit(ref(2), func(*forge.Thread) {})
			}, "review_comment #2!"},
			"reopened": {func(b *bench) {
				b.reopened[ref(4)] = time.Now()
				b.edit(ref(4), func(t *forge.Thread) { t.State = forge.Open })
			}, "edited #4, reopened #4"},
			"closed again and again": {func(b *bench) { b.edit(ref(4), func(t *forge.Thread) { t.Title = "x" }) }, ""},
			"branch": {func(b *bench) {
				b.commits = []forge.Commit{{Sha: sha(50), At: time.Now()}}
				b.checks[sha(50)] = []forge.Check{failing("9", "test")}
				for range rotate * 30 { // its turn comes
					if s := b.tick(); s != "" {
						b.want(s, "ci_failed @main:test!")
						return
					}
				}
				b.Error("not found")
			}, ""},
		} {
			t.Run(fmt.Sprintf("%s/partial=%v", name, partial), func(t *testing.T) {
				in(t, nil, func(b *bench) {
					b.partial = partial
					i, draft, gone := issue(1), pull(3), issue(4)
					i.Labels, draft.Draft, gone.State, gone.Closed = []string{"old"}, true, forge.Closed, time.Now()
					for _, t := range []forge.Thread{i, pull(2), draft, gone} {
						b.put(t)
					}
					b.checks[sha(2)], b.checks[sha(3)] = []forge.Check{passing("1", "test")}, []forge.Check{passing("1", "test")}
					time.Sleep(time.Hour)
					b.want(b.tick(), "labeled #1") // it stands there
					b.want(b.tick(), "")
					time.Sleep(time.Hour)
					tt.do(b)
					b.want(b.soon(), tt.want)
					for range 3 {
						b.want(b.tick(), "")
					}
				})
			})
		}
	}
}

func (b *bench) end(n int, state string) {
	b.edit(ref(n), func(t *forge.Thread) { t.State, t.Closed = state, time.Now() })
}

func (b *bench) judge(state, body string) {
	b.reviews[ref(2)] = forge.Reviews{Reviews: []forge.Review{{ID: 60, Author: author, State: state, Body: body, At: time.Now()}}}
	b.edit(ref(2), func(*forge.Thread) {})
}

// C31: what oneslot did itself wakes nobody, whatever it says.
func TestC31_OwnNeverWakes(t *testing.T) {
	in(t, nil, func(b *bench) {
		b.o.Labels = []string{"oneslot: running"}
		p := pull(2)
		p.Author = forge.Person{Login: "Our-Bot"}
		b.put(issue(1))
		b.put(p)
		b.checks[sha(2)] = []forge.Check{passing("1", "test")}
		time.Sleep(time.Hour)
		b.tick()
		b.tick()
		me := forge.Person{Login: "our-app[bot]", Bot: true, App: "our-app"}
		b.say(ref(1), 5, forge.Person{Login: "our-bot"}, "/run\n@our-bot")
		b.say(ref(1), 6, me, "/run")
		b.edit(ref(1), func(t *forge.Thread) { t.Labels = []string{"oneslot: running"} })
		b.edit(ref(2), func(t *forge.Thread) { t.Head.Sha, t.Title = sha(3), "/run" }) // our own push
		b.checks[sha(3)] = []forge.Check{{Name: "ours", State: forge.Failure, ID: "3", App: "our-app"}}
		b.reviews[ref(2)] = forge.Reviews{
			Reviews:    []forge.Review{{ID: 60, Author: me, State: "changes_requested", At: time.Now()}},
			Unresolved: []forge.Talk{{ID: "x", Last: forge.Comment{ID: 70, Author: me, Created: time.Now(), Updated: time.Now()}}},
		}
		own := issue(7)
		own.Author, own.Body = me, "/run @our-bot"
		b.put(own)
		b.want(b.tick(), "")

		// And its checks, if they fail.
		b.checks[sha(3)] = append(b.checks[sha(3)], failing("4", "test"))
		b.edit(ref(2), func(*forge.Thread) {})
		b.want(b.soon(), "ci_failed #2!")
	})
}

// Run looks at once, then at its own pace, and ends with its context.
func TestRun(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.restart()
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Poller.Run(ctx) }()
		synctest.Wait()
		if calls := b.asked(); !slices.Contains(calls, "open octo/hello") {
			b.Errorf("at once: %q", calls)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := len(b.asked()); n < 8 || n > 12 {
			b.Errorf("%d ticks in 10 minutes", n)
		}
		cancel()
		<-done
	})
}
