package race

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

// pausedAt is the environment of a process that freezes there.
func pausedAt(point string) string { return "ONESLOT_FAILPOINT_PAUSE=" + point }

// freezes waits until a process has done so.
func (a *apart) freezes(p *process) {
	a.t.Helper()
	poll(a.t, patience, "it freezes", func() bool { return stopped(p.cmd.Process.Pid) })
}

// wins has a host try until it has worked on the ref.
func (a *apart) wins(h *host, r slot.Ref, most time.Duration, env ...string) {
	a.t.Helper()
	for end := boot() + most; ; time.Sleep(50 * time.Millisecond) {
		code, p := h.do(h.run(r, append(work(plain, 100*time.Millisecond), env...)))
		if code == 0 {
			return
		}
		if code != 75 || boot() > end {
			a.t.Fatalf("%s did not get it within %v: exit %d\n%s", h.name, most, code, p.err.String())
		}
	}
}

// over judges what happened, with all processes at their ends.
func (a *apart) over(at forgetest.At) {
	a.t.Helper()
	for _, h := range a.hosts {
		h.tidy()
	}
	for _, f := range append(append(both(a.lines()), a.untouched(at)...), a.left(at, nil)...) {
		a.t.Error(f)
	}
}

// What happens to one host at a time.
func TestReservations_Cases(t *testing.T) {
	t.Parallel()
	together(t, map[string]func(*testing.T){
		"a worker without its supervisor": aWorkerWithoutItsSupervisor,
		"a killed contender is forgotten": aKilledContenderIsForgotten,
		"a signal withdraws":              aSignalWithdraws,
		"one waits":                       oneWaits,
		"a lower id turns up late":        aLowerIDTurnsUpLate,
	})
}

// P11: a holder's supervisor is killed, and its worker goes on. The next process of
// that host takes the slot over; but as long as the worker lives nobody else may be
// told that the issue is free.
func aWorkerWithoutItsSupervisor(t *testing.T) {
	a := newApart(t, settings{kind: forgetest.Gitea, hosts: 2, recheck: "0"})
	at, r := a.issue()
	first, second := a.hosts[0], a.hosts[1]
	held := first.start(first.run(r, []string{shapeVar + "=" + stubborn, untilVar + "=" + a.dir + "/never"}, "--grace", "8s", "--ttl", "30s"))
	poll(t, patience, "the first starts", func() bool { return a.started("host-1") })
	held.kill()
	<-held.done
	// Somebody else's work does not end it, and not what is said of it.
	first.tidy()
	second.want(75, second.run(r, work(plain, 0)))
	// Nor while the next one waits for its end.
	old := first.look(r).Live().ID
	next := first.start(first.run(r, append(work(plain, 0), pausedAt(failpoint.AfterReserveNote))))
	poll(t, patience, "the slot is taken over", func() bool { c := first.look(r).Live(); return c != nil && c.ID != old })
	first.tidy()
	second.want(75, second.run(r, work(plain, 0)))
	// And then between what was said of the old run and what is said of the new one.
	a.freezes(next)
	a.wins(second, r, patience)
	next.signal(syscall.SIGCONT)
	if code := first.code(next); code != 0 {
		t.Errorf("the next one: exit %d\n%s", code, next.err.String())
	}
	a.over(at)
}

// What a contender left that was killed before it had started anything is taken back
// by the next process of its folder, whatever that is about.
func aKilledContenderIsForgotten(t *testing.T) {
	all := map[string]func(*testing.T){}
	for _, point := range reservePoints[:4] {
		all[point] = func(t *testing.T) {
			a := newApart(t, settings{kind: forgetest.GitHub, hosts: 2, recheck: "100ms", lock: true})
			at, r := a.issue()
			code, _ := a.hosts[0].do(a.hosts[0].run(r, append(work(plain, 0), "ONESLOT_FAILPOINT="+point)))
			if code != -int(syscall.SIGKILL) {
				t.Errorf("exit %d", code)
			}
			if point != failpoint.AfterReserveNote {
				a.hosts[1].want(75, a.hosts[1].run(r, work(plain, 0)))
			}
			if point == failpoint.AfterReserveEdit { // and one more, that came to clear it
				code, _ := a.hosts[0].do(a.hosts[0].run(r, append(work(plain, 0), "ONESLOT_FAILPOINT="+failpoint.AfterClaimCommit)))
				if code != -int(syscall.SIGKILL) {
					t.Errorf("exit %d", code)
				}
			}
			a.hosts[0].tidy()
			for _, f := range append(a.untouched(at), a.left(at, nil)...) {
				t.Error(f)
			}
			a.hosts[1].want(0, a.hosts[1].run(r, work(plain, 0)))
			a.over(at)
		}
	}
	together(t, all)
}

// Whoever is told to end while it waits takes its comment back.
func aSignalWithdraws(t *testing.T) {
	a := newApart(t, settings{kind: forgetest.GitHub, hosts: 1, recheck: "14s"})
	at, r := a.issue()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := a.hosts[0].start(a.hosts[0].run(r, work(plain, 0)))
		poll(t, patience, "it is posted", func() bool { return len(a.left(at, nil)) == 1 })
		p.signal(sig)
		if code := a.hosts[0].code(p); code != 128+int(sig) {
			t.Errorf("exit %d after %v\n%s", code, sig, p.err.String())
		}
		if left := a.left(at, nil); len(left) > 0 {
			t.Errorf("%v: left behind: %q", sig, left)
		}
		if live := a.hosts[0].look(r).Live(); live != nil {
			t.Errorf("%v: the claim is not given back: %+v", sig, live)
		}
	}
	a.over(at)
}

// Who waits with a store of its own waits for those of other stores, too.
func oneWaits(t *testing.T) {
	a := newApart(t, settings{kind: forgetest.GitLab, hosts: 2, recheck: "200ms-400ms", lock: true})
	at, r := a.issue()
	end := filepath.Join(a.dir, "go")
	first := a.hosts[0].start(a.hosts[0].run(r, []string{untilVar + "=" + end}))
	poll(t, patience, "the first starts", func() bool { return a.started("host-1") })
	second := a.hosts[1].start(a.hosts[1].run(r, work(plain, 0), "--on-busy", "wait"))
	poll(t, patience, "the second asks", func() bool {
		all, err := a.hosts[1].db.Runs(a.hosts[1].ctx, r, 0)
		return err == nil && len(all) > 0 && all[0].State == slot.RunEnded
	})
	touch(t, end)
	for i, p := range []*process{first, second} {
		if code := a.hosts[i].code(p); code != 0 {
			t.Errorf("%s: exit %d\n%s", a.hosts[i].name, code, p.err.String())
		}
	}
	a.over(at)
}

// A contender is frozen with its comment posted, or answered as running, for longer
// than a posted one counts. When it thaws it is late, whoever has won meanwhile.
func TestReservations_FrozenForLong(t *testing.T) {
	t.Parallel()
	all := map[string]func(*testing.T){}
	for _, kind := range []forgetest.Kind{forgetest.GitHub, forgetest.Gitea} {
		s := settings{kind: kind, hosts: 2, recheck: "300ms-400ms"}
		all[string(kind)+" posted"] = func(t *testing.T) { frozenPosted(t, s) }
		all[string(kind)+" running"] = func(t *testing.T) { frozenRunning(t, s) }
	}
	together(t, all)
}

func frozenPosted(t *testing.T, s settings) {
	a := newApart(t, s)
	at, r := a.issue()
	cold := a.hosts[0].start(a.hosts[0].run(r, append(work(plain, 0), pausedAt(failpoint.AfterReservePost))))
	a.freezes(cold)
	end := filepath.Join(a.dir, "go")
	other := a.hosts[1]
	var won *process
	for end := boot() + 2*patience; won == nil && boot() < end; {
		p := other.start(other.run(r, []string{untilVar + "=" + filepath.Join(a.dir, "go")}))
		poll(t, patience, "it starts, or ends", func() bool {
			select {
			case <-p.done:
				return true
			default:
				return a.started("host-2")
			}
		})
		if a.started("host-2") {
			won = p
		} else if code := other.code(p); code != 75 {
			t.Fatalf("exit %d\n%s", code, p.err.String())
		}
	}
	cold.signal(syscall.SIGCONT) // with the other one at work
	if code := a.hosts[0].code(cold); code != 75 {
		t.Errorf("the frozen one: exit %d\n%s", code, cold.err.String())
	}
	touch(t, end)
	if won == nil || other.code(won) != 0 {
		t.Error("the other one did not get it")
	}
	a.over(at)
}

func frozenRunning(t *testing.T, s settings) {
	a := newApart(t, s)
	at, r := a.issue()
	cold := a.hosts[0].start(a.hosts[0].run(r, append(work(plain, 0), pausedAt(failpoint.AfterReserveEdit)), "--ttl", "3m"))
	a.freezes(cold)
	for end := boot() + 65*time.Second; boot() < end; time.Sleep(2 * time.Second) {
		a.hosts[1].want(75, a.hosts[1].run(r, work(plain, 0)))
	}
	cold.signal(syscall.SIGCONT)
	// Its edit was answered in time, but it looked at its clock too late.
	if code := a.hosts[0].code(cold); code != 75 {
		t.Errorf("the frozen one: exit %d\n%s", code, cold.err.String())
	}
	a.wins(a.hosts[1], r, patience)
	a.over(at)
}

// started reports that a worker of that name has started.
func (a *apart) started(name string) bool {
	lines, _, err := readJournal(filepath.Join(a.dir, "journal"), 0)
	return err == nil && slices.ContainsFunc(lines, func(l line) bool { return l.Event == "start" && l.Name == name })
}

// A lower id turns up after a higher one was read to be alone: it waits, and is late.
func aLowerIDTurnsUpLate(t *testing.T) {
	a := newApart(t, settings{kind: forgetest.Gitea, hosts: 2, recheck: "5s-15s"}) // which Gitea does not need
	at, r := a.issue()
	first, second := a.hosts[0], a.hosts[1]
	a.forge.SetReads(forgetest.Reads{Commit: forgetest.Range{Min: 4 * time.Second, Max: 4 * time.Second}})
	slow := a.forge.Inject(forgetest.Fault{Method: "GET", Path: "/comments", Login: "bob", Skip: 1, Times: 1, Delay: forgetest.Range{Min: 6 * time.Second}})
	low := first.start(first.run(r, work(plain, 5*time.Second)))
	poll(t, patience, "it is noted", func() bool {
		notes, err := filepath.Glob(first.path("state/reservations/*.reservation"))
		return err == nil && len(notes) > 0
	})
	time.Sleep(time.Second) // it is posted, and not answered
	a.forge.SetReads(forgetest.Reads{})
	second.want(0, second.run(r, work(plain, 8*time.Second))) // the other one looks meanwhile
	if code := first.code(low); code != 75 {
		t.Errorf("the lower id: exit %d\n%s", code, low.err.String())
	}
	slow()
	a.over(at)
}

// The twin: with no wait, or one that is shorter than the lists are behind, two start;
// with one that is longer, on the same schedule, one does.
func TestReservations_TwoWinWithoutTheWait(t *testing.T) {
	t.Parallel()
	all := map[string]func(*testing.T){}
	for recheck, want := range map[string]bool{"0": true, "300ms-500ms": true, "8s": false} {
		all[recheck] = func(t *testing.T) {
			a := newApart(t, settings{kind: forgetest.GitHub, hosts: 2, recheck: recheck})
			at, r := a.issue()
			// The first one's comment is seen late, and so is the second one's edit.
			a.forge.SetReads(forgetest.Reads{Counter: true, Of: func(c forgetest.Comment) time.Duration {
				switch {
				case c.Author == "alice" && strings.Contains(c.Body, "state=posted"):
					return 11 * time.Second
				case c.Author == "bob" && strings.Contains(c.Body, "state=running"):
					return 8 * time.Second
				}
				return 0
			}})
			first := a.hosts[0].start(a.hosts[0].run(r, work(plain, 10*time.Second)))
			poll(t, patience, "it is posted", func() bool { return len(a.left(at, nil)) == 1 })
			time.Sleep(6 * time.Second) // longer than what the rules allow a forge's clock
			second := a.hosts[1].start(a.hosts[1].run(r, work(plain, 10*time.Second)))
			codes := [2]int{a.hosts[0].code(first), a.hosts[1].code(second)}
			a.forge.SetReads(forgetest.Reads{})
			faults := both(a.lines())
			if got := codes == [2]int{}; got != want || (len(faults) > 0) != want {
				t.Errorf("with recheck %s: exits %v, and found: %q\n%s%s", recheck, codes, faults, first.err.String(), second.err.String())
			}
			if !want && codes[0]+codes[1] != 75 {
				t.Errorf("exits %v, want one winner", codes)
			}
		}
	}
	together(t, all)
}
