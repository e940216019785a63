package reserve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// faulty fails requests of one kind; of any, if op is empty.
func faulty(op string, err error) func(context.Context, string, string, bool) error {
	return func(_ context.Context, _, o string, after bool) error {
		if !after && (op == "" || o == op) {
			return err
		}
		return nil
	}
}

var forbidden = &forge.Error{Kind: forge.ErrForbidden, Op: "x", Status: 403}

// reports collects what is reported.
func reports(list *[]Report) func(*Options) {
	return func(o *Options) { o.Report = func(_ context.Context, r Report) { *list = append(*list, r) } }
}

// full lets no record be written from the next edit that was answered on: as a full
// disk. The function it returns ends that.
func full(t *testing.T, th *thread, r *Reserver) (mend func()) {
	t.Helper()
	var blocked string
	th.fault = func(_ context.Context, _, op string, after bool) error {
		if op == "edit" && after && blocked == "" {
			ids, _ := r.dir.ids()
			blocked = filepath.Join(r.o.Dir, ids[0]+suffix+".tmp")
			if err := os.Mkdir(blocked, 0o700); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	return func() {
		th.fault = nil
		if err := os.Remove(blocked); err != nil {
			t.Error(err)
		}
	}
}

// P8: an edit that was done and could not be noted is no win: nobody would renew it.
// It is taken back.
func TestEditThatCannotBeNotedIsNoWin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r := th.reserver(t, "ann")
		mend := full(t, th, r)
		if _, err := r.Take(t.Context(), ask(t, "c1")); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("take: %v", err)
		}
		mend()
		wantBodies(t, th)
		if n := records(t, r); n != 0 {
			t.Errorf("%d records", n)
		}
		if _, err := r.Take(t.Context(), ask(t, "c2")); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

// The same, and the comment cannot be taken back either: the next sweep does it.
func TestEditThatCannotBeNotedIsFoundByTidy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r := th.reserver(t, "ann")
		mend := full(t, th, r)
		blocking := th.fault
		th.fault = func(ctx context.Context, who, op string, after bool) error {
			if op == "delete" {
				return &forge.Error{Op: op, Status: 502}
			}
			return blocking(ctx, who, op, after)
		}
		if _, err := r.Take(t.Context(), ask(t, "c1")); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("take: %v", err)
		}
		mend()
		wantBodies(t, th, "state=running")
		if err := again(t, th, r).Tidy(t.Context(), dead); err != nil || records(t, r) != 0 {
			t.Errorf("tidy: %v, %d records", err, records(t, r))
		}
		wantBodies(t, th)
	})
}

// What cannot be cleared is asked for more and more rarely, by all processes together,
// reported once, and given up.
func TestWhatCannotBeCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		var told []Report
		r, held := won(t, th, "ann", reports(&told))
		th.fault = faulty("delete", forbidden)
		errs := 0
		for range 4 * 60 { // an hour of sweeps of two processes
			for _, sweep := range []*Reserver{r, again(t, th, r)} {
				if err := sweep.Tidy(t.Context(), dead); err != nil {
					errs++
				}
			}
			time.Sleep(15 * time.Second)
		}
		if n := th.count("delete"); errs != 1 || n < 5 || n > 12 {
			t.Errorf("%d errors, %d tries in an hour", errs, n)
		}
		if len(told) != 1 || told[0].What != "not cleared" || told[0].Claim != "c1" || told[0].Comment != held.Comment {
			t.Errorf("told: %+v", told)
		}
		for range 8 * 24 {
			time.Sleep(time.Hour)
			r.Tidy(t.Context(), dead) //nolint:errcheck // the end is judged
		}
		if n := th.count("delete"); n > 8*24+12 || records(t, r) != 0 {
			t.Errorf("%d tries in all, %d records", n, records(t, r))
		}
		if len(told) != 2 || told[1].What != "given up" {
			t.Errorf("told: %+v", told)
		}
	})
}

// It lets pass: the right comes back, and all is cleared within an hour.
func TestWhatCanBeClearedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann", func(o *Options) { o.Lock = true })
		th.fault = faulty("unlock", forbidden)
		for range 100 {
			r.Tidy(t.Context(), dead) //nolint:errcheck // it is told elsewhere
			time.Sleep(15 * time.Second)
		}
		th.fault = nil
		time.Sleep(mostAgain)
		if err := r.Tidy(t.Context(), dead); err != nil || records(t, r) != 0 || th.isLocked() {
			t.Errorf("%v, %d records, locked %v", err, records(t, r), th.isLocked())
		}
		wantBodies(t, th)
	})
}

// Whoever is about to work on a thread does not wait for the next try to clear it.
func TestDueIsClearedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		th.fault = faulty("delete", forbidden)
		for range 3 {
			r.Tidy(t.Context(), dead) //nolint:errcheck // it is told elsewhere
			time.Sleep(15 * time.Second)
		}
		th.fault = nil
		if r.Tidy(t.Context(), dead); records(t, r) != 1 { //nolint:errcheck // not due
			t.Fatal("it was due in any case")
		}
		if err := r.Due(t.Context(), issue(t)); err != nil {
			t.Fatal(err)
		}
		if err := r.Tidy(t.Context(), dead); err != nil || records(t, r) != 0 {
			t.Errorf("%v, %d records", err, records(t, r))
		}
		wantBodies(t, th)
	})
}

// A thread that is gone needs no clearing; one that is only out of sight, or was for a
// while, does. P8.
func TestAGoneThread(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(context.Context, string, string, bool) error
		left  int
	}{
		"deleted":      {nil, 0},
		"out of sight": {faulty("repo", &forge.Error{Kind: forge.ErrNotFound, Op: "repo", Status: 404}), 1},
		"410": {func(_ context.Context, _, op string, _ bool) error {
			if op == "thread" || op == "repo" {
				return &forge.Error{Kind: forge.ErrNotFound, Op: op, Status: 410}
			}
			return nil
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				r, _ := won(t, th, "ann", func(o *Options) { o.Lock = true })
				th.gone, th.fault = true, c.fault
				tidy := func(long time.Duration) int {
					for range long / time.Minute {
						r.Tidy(t.Context(), dead) //nolint:errcheck // it fails, once and again
						time.Sleep(time.Minute)
					}
					return records(t, r)
				}
				if n := tidy(goneAfter / 2); n != 1 {
					t.Errorf("after a while: %d records", n)
				}
				if n := tidy(3 * goneAfter); n != c.left {
					t.Errorf("in the end: %d records", n)
				}
			})
		})
		t.Run(name+" for a while", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				r, _ := won(t, th, "ann", func(o *Options) { o.Lock = true })
				th.gone, th.fault = true, c.fault
				if err := r.Tidy(t.Context(), dead); err == nil {
					t.Error("nothing failed")
				}
				th.gone, th.fault = false, nil
				if err := r.Tidy(t.Context(), dead); err != nil || records(t, r) != 0 || th.isLocked() {
					t.Errorf("%v, %d records, locked %v", err, records(t, r), th.isLocked())
				}
				wantBodies(t, th)
			})
		})
	}
}

// An edit that the forge refuses for good is not tried again, and looks that show nothing
// get rarer.
func TestTake_NoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		th.fault = faulty("edit", forbidden)
		if _, err := th.reserver(t, "ann").Take(t.Context(), ask(t, "c1")); !errors.Is(err, slot.ErrUnknown) || th.count("edit") != 1 {
			t.Errorf("%v, after %d edits", err, th.count("edit"))
		}
		th = newThread()
		th.fault = faulty("edit", errors.New("502"))
		if _, err := th.reserver(t, "ann").Take(t.Context(), ask(t, "c1")); err == nil || th.count("edit") > 30 || th.count("list") > 40 {
			t.Errorf("%v, after %d edits and %d lists", err, th.count("edit"), th.count("list"))
		}
	})
}

// A reservation under which nothing started is taken back, also where the outcome of
// work is told.
func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann", func(o *Options) { o.DeleteAtEnd, o.Lock = false, true })
		for range 2 { // twice is harmless
			if err := r.Withdraw(t.Context(), "c1"); err != nil {
				t.Error(err)
			}
		}
		wantBodies(t, th)
		if th.isLocked() || records(t, r) != 0 {
			t.Errorf("locked %v, %d records", th.isLocked(), records(t, r))
		}
	})
}

// A sweep about some refs leaves the others, and asks nothing about them.
func TestSweepOfSomeRefs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		other, err := slot.ParseCanonical(host + "/octo/hello#8")
		if err != nil {
			t.Fatal(err)
		}
		asked := th.count("list") + th.count("delete")
		time.Sleep(defaultTTL / 2)
		err = errors.Join(r.Tend(t.Context(), lives, other), r.Tidy(t.Context(), dead, other))
		if n := th.count("list") + th.count("delete"); err != nil || n != asked {
			t.Errorf("%v, %d requests", err, n-asked)
		}
		if got, err := r.Claims(other); err != nil || len(got) != 0 {
			t.Errorf("%q, %v", got, err)
		}
		if err := r.Tidy(t.Context(), dead, other, issue(t)); err != nil || records(t, r) != 0 {
			t.Errorf("%v, %d records", err, records(t, r))
		}
	})
}

// A lost reservation is reported, once.
func TestLostIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		var told []Report
		r, held := won(t, th, "ann", reports(&told))
		th.note(held.Comment).gone = time.Now()
		for range 5 {
			time.Sleep(defaultTTL / 3)
			r.Tend(t.Context(), lives) //nolint:errcheck // it is told elsewhere
		}
		if len(told) != 1 || told[0].What != "lost" || told[0].Claim != "c1" || told[0].Path != slot.PathPoll {
			t.Errorf("told: %+v", told)
		}
	})
}

// P8: a comment that cannot be seen for a moment is not one that was deleted.
func TestEnd_NotSeenIsNotGone(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			th := newThread()
			r := th.reserver(t, "ann", func(o *Options) { o.DeleteAtEnd = deleted })
			if _, err := r.Take(t.Context(), ask(t, "c1")); err != nil {
				t.Fatal(err)
			}
			th.fault = faulty("", &forge.Error{Kind: forge.ErrNotFound, Op: "x", Status: 404})
			if err := r.End(t.Context(), "c1", End{Outcome: "done"}); !errors.Is(err, slot.ErrUnknown) || records(t, r) != 1 {
				t.Errorf("delete_at_end %v: %v, and %d records", deleted, err, records(t, r))
			}
			th.fault = nil
			if err := r.End(t.Context(), "c1", End{Outcome: "done"}); err != nil || records(t, r) != 0 {
				t.Errorf("delete_at_end %v: %v, and %d records", deleted, err, records(t, r))
			}
			if _, err := th.reserver(t, "bob").Take(t.Context(), ask(t, "c2")); err != nil {
				t.Errorf("delete_at_end %v: the next host: %v", deleted, err)
			}
		})
	}
}

// The token of another account is noticed by the first comment that it makes.
func TestTake_AnotherAccountsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		s := th.as("ann")
		r := th.reserver(t, "ann", func(o *Options) { o.Thread = s })
		if _, err := r.Take(t.Context(), ask(t, "c1")); err != nil {
			t.Fatal(err)
		}
		if err := r.End(t.Context(), "c1", End{Outcome: "done"}); err != nil {
			t.Fatal(err)
		}
		s.login = "bob"
		if _, err := r.Take(t.Context(), ask(t, "c2")); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("signed for somebody else: %v", err)
		}
		if _, err := r.Take(t.Context(), ask(t, "c3")); err != nil {
			t.Errorf("once it is known: %v", err)
		}
	})
}
