package reserve

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// P9: it lets pass: one who is alone has it, at once where no list lags.
func TestAloneWins(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*Options)
		min, max time.Duration
	}{
		"lists lag": {func(*Options) {}, defaultLow, defaultHigh},
		"no lag":    {noLag, 0, 0},
		"recheck 0": {func(o *Options) { o.Low, o.High = 0, 0 }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				r := th.reserver(t, "ann", c.change)
				began := time.Now()
				held, err := r.Take(t.Context(), ask(t, "c1"))
				if err != nil {
					t.Fatal(err)
				}
				if d := time.Since(began); d < c.min || d > c.max {
					t.Errorf("it took %v", d)
				}
				wantBodies(t, th, "state=running")
				if left := held.Until - r.o.Clock.Boot(); left < defaultTTL-time.Minute || left > defaultTTL {
					t.Errorf("good for %v", left)
				}
				if err := r.End(t.Context(), "c1", End{Outcome: "done"}); err != nil {
					t.Fatal(err)
				}
				wantBodies(t, th)
				if n := records(t, r); n != 0 {
					t.Errorf("%d records", n)
				}
				if err := r.End(t.Context(), "c1", End{}); err != nil {
					t.Errorf("ending twice: %v", err)
				}
			})
		})
	}
}

// Who comes second posts nothing: nobody is notified for what is taken anyway.
func TestSecondIsToldWhoWon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		ann, bob := th.reserver(t, "ann"), th.reserver(t, "bob")
		if _, err := ann.Take(t.Context(), ask(t, "c1")); err != nil {
			t.Fatal(err)
		}
		_, err := bob.Take(t.Context(), ask(t, "c2"))
		var busy *BusyError
		if !errors.As(err, &busy) || busy.By.Login != "ann" || busy.By.Marker.Host != "host-ann" || busy.By.Comment != 101 ||
			busy.By.Marker.Path != slot.PathPoll || busy.By.Created.IsZero() {
			t.Fatalf("bob: %v", err)
		}
		if n := th.count("post"); n != 1 {
			t.Errorf("%d posts", n)
		}
		// A that ends frees the slot.
		if err := ann.End(t.Context(), "c1", End{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := bob.Take(t.Context(), ask(t, "c3")); err != nil {
			t.Errorf("bob, later: %v", err)
		}
	})
}

// race lets n hosts ask at once, and returns who won.
func race(t *testing.T, th *thread, n int, change ...func(*Options)) (won []string, all []*Reserver) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		name := string(rune('a' + i))
		r := th.reserver(t, name, change...)
		all = append(all, r)
		wg.Go(func() {
			time.Sleep(time.Duration(rand.IntN(8000)) * time.Millisecond)
			_, err := r.Take(t.Context(), ask(t, name))
			var busy *BusyError
			switch {
			case err == nil:
				mu.Lock()
				won = append(won, name)
				mu.Unlock()
			case !errors.As(err, &busy) && !errors.Is(err, slot.ErrUnknown):
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	return won, all
}

// weather is a forge on a bad day: lists up to lag behind, slow requests, lost
// answers, and contenders that freeze.
func weather(th *thread, lag time.Duration, frozen bool) {
	th.lag = func() time.Duration { return time.Duration(rand.Int64N(int64(lag) + 1)) }
	th.hidden = func() time.Duration { return time.Duration(rand.IntN(9000)) * time.Millisecond }
	th.fault = func(ctx context.Context, who, op string, after bool) error {
		d := time.Duration(rand.IntN(1500)) * time.Millisecond
		if frozen && rand.IntN(12) == 0 {
			d = time.Duration(rand.IntN(120)) * time.Second // whatever its timeouts say
		}
		time.Sleep(d)
		if rand.IntN(10) == 0 {
			return &forge.Error{Op: op, Status: 502, Detail: "bad gateway"}
		}
		return nil
	}
}

// Two winners never; in the end one; nothing left. (C15, C16, C17)
func TestC16_Race(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for _, frozen := range []bool{false, true} {
		none := 0
		for range rounds {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				weather(th, 4*time.Second, frozen)
				won, all := race(t, th, 3)
				if len(won) > 1 {
					t.Errorf("won: %v", won)
				}
				if len(won) == 0 {
					none++
				}
				// The weather clears up; those that lost or died are tidied.
				th.fault, th.lag, th.hidden = nil, nil, nil
				time.Sleep(2 * lateIn)
				for _, r := range all {
					if err := r.Tidy(t.Context(), func(_ context.Context, claim string) (bool, error) {
						return len(won) > 0 && claim == won[0], nil
					}); err != nil {
						t.Errorf("tidy: %v", err)
					}
				}
				if len(won) == 1 {
					wantBodies(t, th, "state=running")
				} else {
					wantBodies(t, th)
					if _, err := all[0].Take(t.Context(), ask(t, "again")); err != nil {
						t.Errorf("nobody had it, and still: %v", err)
					}
				}
			})
		}
		t.Logf("frozen %v: in %d of %d rounds all gave up at first", frozen, none, rounds)
	}
}

// The race can fail: with a lag above the wait it finds two winners.
func TestC15_RaceFindsWhatTheWaitIsFor(t *testing.T) {
	two := 0
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			th := newThread()
			weather(th, 40*time.Second, false)
			if won, _ := race(t, th, 3); len(won) > 1 {
				two++
			}
		})
		if two > 0 {
			return
		}
	}
	t.Error("lists were 40 s behind, and nobody won beside another")
}

// Without lag nothing is waited for, and real goroutines meet at the same instant.
func TestRaceWithoutLag(t *testing.T) {
	for range 20 {
		th := newThread()
		var wg sync.WaitGroup
		wins := make(chan string, 4)
		start := make(chan struct{})
		for i := range 4 {
			name := string(rune('a' + i))
			r := th.reserver(t, name, noLag)
			wg.Go(func() {
				<-start
				if _, err := r.Take(t.Context(), ask(t, name)); err == nil {
					wins <- name
				}
			})
		}
		close(start)
		wg.Wait()
		if n := len(wins); n > 1 {
			t.Fatalf("%d winners", n)
		}
	}
}

// A post whose answer is lost is found again; one that never arrives is unknown, and
// is looked for when it may turn up late.
func TestLostAnswerToThePost(t *testing.T) {
	for name, stored := range map[string]bool{"stored": true, "not stored": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				th.fault = func(_ context.Context, _, op string, after bool) error {
					if op == "post" && after == stored {
						return &forge.Error{Op: op, Status: 502}
					}
					return nil
				}
				r := th.reserver(t, "ann")
				_, err := r.Take(t.Context(), ask(t, "c1"))
				if stored {
					if err != nil {
						t.Fatal(err)
					}
					wantBodies(t, th, "state=running")
					return
				}
				if !errors.Is(err, slot.ErrUnknown) || records(t, r) != 1 {
					t.Fatalf("%v, %d records", err, records(t, r))
				}
				ids, _ := r.dir.ids()
				rec, err := r.dir.peek(ids[0])
				if err != nil {
					t.Fatal(err)
				}
				th.fault = nil
				th.say("ann", r.body(rec)) // it arrives now
				if err := r.Tidy(t.Context(), dead); err != nil || records(t, r) != 0 {
					t.Errorf("tidy: %v, %d records", err, records(t, r))
				}
				wantBodies(t, th)
			})
		})
	}
}

// What the forge surely did not do leaves nothing to look for.
func TestRefusedPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		th.fault = func(_ context.Context, _, op string, _ bool) error {
			if op == "post" {
				return &forge.Error{Kind: forge.ErrForbidden, Op: op, Status: 403}
			}
			return nil
		}
		r := th.reserver(t, "ann")
		if _, err := r.Take(t.Context(), ask(t, "c1")); !errors.Is(err, slot.ErrUnknown) || !errors.Is(err, forge.ErrForbidden) {
			t.Error(err)
		}
		if n := records(t, r); n != 0 {
			t.Errorf("%d records", n)
		}
	})
}

// The edit must be answered before the cut-off, or it counts for nothing.
func TestLateEditIsNoWin(t *testing.T) {
	for delay, wins := range map[time.Duration]bool{20 * time.Second: true, 45 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			th := newThread()
			th.fault = func(_ context.Context, _, op string, after bool) error {
				if op == "edit" && after {
					time.Sleep(delay) // as if our process were frozen: no timeout ends it
				}
				return nil
			}
			r := th.reserver(t, "ann")
			_, err := r.Take(t.Context(), ask(t, "c1"))
			if (err == nil) != wins {
				t.Errorf("after %v: %v", delay, err)
			}
			if !wins {
				wantBodies(t, th)
			}
		})
	}
}

// A lost answer to the edit is asked for again.
func TestLostAnswerToTheEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		fails := 2
		th.fault = func(_ context.Context, _, op string, after bool) error {
			if op == "edit" && after && fails > 0 {
				fails--
				return &forge.Error{Op: op, Status: 504}
			}
			return nil
		}
		if _, err := th.reserver(t, "ann").Take(t.Context(), ask(t, "c1")); err != nil {
			t.Error(err)
		}
	})
}

// P8: who cannot read starts nothing, and takes back what it posted.
func TestUnreadableIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		posted := false
		th.fault = func(_ context.Context, _, op string, _ bool) error {
			posted = posted || op == "post"
			if op == "list" && posted {
				return &forge.Error{Kind: forge.ErrShort, Op: op}
			}
			return nil
		}
		r := th.reserver(t, "ann")
		if _, err := r.Take(t.Context(), ask(t, "c1")); !errors.Is(err, forge.ErrShort) || !errors.Is(err, slot.ErrUnknown) {
			t.Error(err)
		}
		wantBodies(t, th)
	})
}

// A caller that goes away takes its comment along.
func TestCancelledWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r := th.reserver(t, "ann")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Take(ctx, ask(t, "c1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wantBodies(t, th)
		if n := records(t, r); n != 0 {
			t.Errorf("%d records", n)
		}
	})
}

// --force passes the others, whose comments stay, and says why.
func TestForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		ann, bob := th.reserver(t, "ann"), th.reserver(t, "bob")
		if _, err := ann.Take(t.Context(), ask(t, "c1")); err != nil {
			t.Fatal(err)
		}
		a := ask(t, "c2")
		a.Force = "ann's host burnt down, @ann\n/close"
		held, err := bob.Take(t.Context(), a)
		if err != nil || held.Passed.Login != "ann" {
			t.Fatalf("%+v, %v", held, err)
		}
		wantBodies(t, th, "state=running", "```\nann's host burnt down, @ann\n/close\n```")
	})
}
