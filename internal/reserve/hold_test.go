package reserve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// won takes c1 for login.
func won(t *testing.T, th *thread, login string, change ...func(*Options)) (*Reserver, Held) {
	t.Helper()
	r := th.reserver(t, login, change...)
	held, err := r.Take(t.Context(), ask(t, "c1"))
	if err != nil {
		t.Fatal(err)
	}
	return r, held
}

// again is another process on the folder of r.
func again(t *testing.T, th *thread, r *Reserver) *Reserver {
	t.Helper()
	return th.reserver(t, r.me.name, func(o *Options) { *o = r.o })
}

// Tend renews at a third of the time to live, by whichever process.
func TestTendRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		other := again(t, th, r)
		for range 6 {
			time.Sleep(defaultTTL/3 - time.Minute)
			if err := other.Tend(t.Context(), lives); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			for _, tender := range []*Reserver{r, other} {
				if err := tender.Tend(t.Context(), lives); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := th.count("edit"); n != 7 {
			t.Errorf("%d edits", n)
		}
		wantBodies(t, th, "renewal=6")
		if _, err := th.reserver(t, "bob").Take(t.Context(), ask(t, "c2")); err == nil {
			t.Error("bob has it too")
		}
	})
}

// A reservation of a dead claim, or of one that nobody knows about, is not renewed.
func TestTendLeavesTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		time.Sleep(defaultTTL / 2)
		for _, alive := range []Alive{dead, func(context.Context, string) (bool, error) { return true, slot.ErrUnknown }} {
			if err := r.Tend(t.Context(), alive); err != nil {
				t.Fatal(err)
			}
		}
		if n := th.count("edit"); n != 1 {
			t.Errorf("%d edits", n)
		}
	})
}

// C17: what a dead holder left runs out by age, and its owner then has lost it for
// good: somebody else may be at work.
func TestC17_LapsesByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		ann, _ := won(t, th, "ann")
		bob := th.reserver(t, "bob")
		time.Sleep(defaultTTL - time.Minute)
		var busy *BusyError
		if _, err := bob.Take(t.Context(), ask(t, "c2")); !errors.As(err, &busy) {
			t.Fatalf("before it is over: %v", err)
		}
		time.Sleep(time.Minute + 2*time.Second)
		if _, err := bob.Take(t.Context(), ask(t, "c3")); err != nil {
			t.Fatalf("after it is over: %v", err)
		}
		for range 2 {
			if err := renewNow(t, ann, "c1"); !errors.Is(err, slot.ErrLost) {
				t.Errorf("ann: %v", err)
			}
		}
		if err := ann.End(t.Context(), "c1", End{}); err != nil {
			t.Error(err)
		}
		wantBodies(t, th, "host=host-bob") // bob's is as it was
	})
}

// What a person does to our comment loses the reservation; what the forge does not
// answer does not.
func TestRenew(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(th *thread, id int64)
		want    error
	}{
		"nothing": {func(*thread, int64) {}, nil},
		"deleted": {func(th *thread, id int64) { th.note(id).gone = time.Now() }, slot.ErrLost},
		"edited": {func(th *thread, id int64) {
			th.note(id).Body, th.note(id).Updated = "never mind", time.Now()
		}, slot.ErrLost},
		"its text is edited, the marker is not": {func(th *thread, id int64) {
			th.note(id).Body, th.note(id).Updated = strings.ReplaceAll(th.note(id).Body, "\n", "\r\n")+"hello", time.Now()
		}, nil},
		"no answer": {func(th *thread, _ int64) {
			th.fault = func(context.Context, string, string, bool) error { return &forge.Error{Op: "x", Status: 500} }
		}, slot.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				r, held := won(t, th, "ann")
				time.Sleep(time.Minute)
				c.happens(th, held.Comment)
				if err := renewNow(t, r, "c1"); !errors.Is(err, c.want) {
					t.Errorf("renew: %v", err)
				}
				th.fault = nil
				if c.want == slot.ErrUnknown {
					if err := renewNow(t, r, "c1"); err != nil {
						t.Errorf("again: %v", err)
					}
				}
			})
		})
	}
}

// A renewal that is answered after others stopped believing is none.
func TestLateRenewalIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		time.Sleep(defaultTTL - time.Minute)
		th.fault = func(_ context.Context, _, op string, after bool) error {
			if op == "edit" && after {
				time.Sleep(2 * time.Minute) // frozen
			}
			return nil
		}
		if err := renewNow(t, r, "c1"); !errors.Is(err, slot.ErrLost) {
			t.Error(err)
		}
	})
}

// A comment of ours that others cannot take for ours is no reservation.
func TestOwnCommentMustCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r := th.reserver(t, "ann")
		r.me.name = "somebody-else" // the forge shows another login than it told
		_, err := r.Take(t.Context(), ask(t, "c1"))
		if !errors.Is(err, slot.ErrUnknown) || !strings.Contains(err.Error(), "we are somebody-else") {
			t.Error(err)
		}
		wantBodies(t, th)
	})
}

// At the end the comment says what came of it, and holds nothing.
func TestEndTellsTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann", func(o *Options) { o.DeleteAtEnd = false })
		end := End{Outcome: "done", Summary: "fixed it\n```\n@all", Link: "https://forge.test/octo/hello/pulls/9"}
		if err := again(t, th, r).End(t.Context(), "c1", end); err != nil {
			t.Fatal(err)
		}
		wantBodies(t, th, "state=ended")
		wantBodies(t, th, "Outcome: `done`.\n\nLink: <https://forge.test/octo/hello/pulls/9>\n\n````\nfixed it\n```\n@all\n````\n")
		if _, err := th.reserver(t, "bob").Take(t.Context(), ask(t, "c2")); err != nil {
			t.Errorf("bob: %v", err)
		}
	})
}

// An end that the forge does not take now is finished by the next sweep.
func TestEndIsFinishedByTidy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann", func(o *Options) { o.DeleteAtEnd = false })
		th.fault = func(context.Context, string, string, bool) error { return &forge.Error{Op: "x", Status: 500} }
		if err := r.End(t.Context(), "c1", End{Outcome: "failed"}); !errors.Is(err, slot.ErrUnknown) {
			t.Fatal(err)
		}
		th.fault = nil
		if err := again(t, th, r).Tidy(t.Context(), lives); err != nil {
			t.Fatal(err)
		}
		wantBodies(t, th, "Outcome: `failed`")
		if n := records(t, r); n != 0 {
			t.Errorf("%d records", n)
		}
	})
}

// The conversation is locked by the winner alone, after it won, and unlocked by
// nobody else; a lock of somebody else stays.
func TestConversationLock(t *testing.T) {
	lock := func(o *Options) { o.Lock = true }
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann", lock)
		if !th.isLocked() {
			t.Fatal("not locked")
		}
		if _, err := th.reserver(t, "bob", lock).Take(t.Context(), ask(t, "c2")); err == nil || !th.isLocked() {
			t.Errorf("bob: %v, locked %v", err, th.isLocked())
		}
		if err := r.End(t.Context(), "c1", End{}); err != nil || th.isLocked() {
			t.Errorf("end: %v, locked %v", err, th.isLocked())
		}

		th.locked = true // by a person
		time.Sleep(time.Second)
		r, _ = won(t, th, "ann", lock)
		if err := r.End(t.Context(), "c1", End{}); err != nil || !th.isLocked() {
			t.Errorf("end: %v, locked %v", err, th.isLocked())
		}
		if n := th.count("lock"); n != 1 {
			t.Errorf("locked %d times", n)
		}
	})
}

// The sweep undoes what a dead holder left: comment and lock. It leaves what lives,
// and what nobody knows of.
func TestTidy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann", func(o *Options) { o.Lock = true })
		later := again(t, th, r)
		for _, alive := range []Alive{lives, func(context.Context, string) (bool, error) { return false, slot.ErrUnknown }} {
			if err := later.Tidy(t.Context(), alive); err != nil {
				t.Fatal(err)
			}
			wantBodies(t, th, "state=running")
		}
		if err := later.Tidy(t.Context(), dead); err != nil {
			t.Fatal(err)
		}
		wantBodies(t, th)
		if th.isLocked() || records(t, r) != 0 {
			t.Errorf("locked %v, %d records", th.isLocked(), records(t, r))
		}
	})
}

// A contender at work, also a frozen one, holds its record: no sweep takes its
// comment from under it.
func TestTidyLeavesContendersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r := th.reserver(t, "ann")
		done := make(chan error)
		go func() {
			_, err := r.Take(t.Context(), ask(t, "c1"))
			done <- err
		}()
		time.Sleep(time.Second) // it settles
		if err := again(t, th, &Reserver{o: r.o, me: login{name: "ann"}}).Tidy(t.Context(), dead); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A record that cannot be read, or is of another forge, is left, and hides no other.
func TestTidyGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		if err := os.WriteFile(filepath.Join(r.o.Dir, "aaa"+suffix), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		far, err := slot.ParseCanonical("elsewhere.test/octo/hello#7")
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.dir.create(record{Claim: "c9", Ref: far, Marker: Marker{ID: "aab"}})
		if err != nil {
			t.Fatal(err)
		}
		e.close()
		if err := r.Tidy(t.Context(), dead); err == nil {
			t.Error("half a record is no error")
		}
		wantBodies(t, th)
		if n := records(t, r); n != 2 {
			t.Errorf("%d records", n)
		}
	})
}

// C61: records are for their owner, and the key is in none of them nor on the thread.
func TestC61_NoKeyAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		r, _ := won(t, th, "ann")
		ids, _ := r.dir.ids()
		path := filepath.Join(r.o.Dir, ids[0]+suffix)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		data, _ := os.ReadFile(path)
		for _, text := range append(th.bodies(), string(data)) {
			if strings.Contains(text, string(testKey)) {
				t.Error("it shows the key")
			}
		}
	})
}
