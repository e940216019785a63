package race

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// lineup is a slot with a holder and a line of processes behind it.
type lineup struct {
	*world
	ref     slot.Ref
	holder  *process
	waiters []*process
	from    time.Duration // when the slot was given back
}

// newLineup puts n in line, one after the other.
func newLineup(t *testing.T, n int) *lineup {
	t.Helper()
	q := &lineup{world: newWorld(t, plainProgram), ref: ref(t, "line")}
	env := []string{nameVar + "=holder", untilVar + "=" + q.path("go")}
	q.holder = q.start(run(q.ref, env))
	q.started("holder")
	for range n {
		q.join()
		q.waiting(q.ref, len(q.waiters))
	}
	return q
}

// join starts one more waiter, named by its number.
func (q *lineup) join() {
	env := append(work(plain, 0), fmt.Sprintf("%s=%d", nameVar, len(q.waiters)))
	q.waiters = append(q.waiters, q.start(run(q.ref, env, "--on-busy", "wait")))
}

// release has the holder end.
func (q *lineup) release() {
	q.t.Helper()
	q.from = boot()
	touch(q.t, q.path("go"))
}

// over waits for all to end, those that were killed apart, and gives the first
// lines of the workers in the order of their starts.
func (q *lineup) over(killed ...int) (starts []line) {
	q.t.Helper()
	for i, p := range append(q.waiters, q.holder) {
		want := 0
		if slices.Contains(killed, i) {
			want = -int(syscall.SIGKILL)
		}
		if got := q.code(p); got != want {
			q.t.Errorf("number %d in line ended with %d, want %d\n%s", i, got, want, p.err.String())
		}
	}
	if len(killed) > 0 { // one of them may have had the slot
		q.want(0, run(q.ref, append(work(plain, 0), nameVar+"=last"), "--on-busy", "wait"))
	}
	lines := q.fresh()
	for _, fault := range judge(lines) {
		q.t.Error(fault)
	}
	for _, l := range lines {
		if l.Event == "start" && l.Name != "holder" && l.Name != "last" {
			starts = append(starts, l)
		}
	}
	if s := q.look(q.ref); s.Live() != nil || s.Waiting > 0 {
		q.t.Errorf("not at rest: %+v, %d wait", s.Newest, s.Waiting)
	}
	return starts
}

func names(starts []line) (all []string) {
	for _, l := range starts {
		all = append(all, l.Name)
	}
	return all
}

// They start in the order in which they came, and nobody overtakes.
func TestLine_Order(t *testing.T) {
	t.Parallel()
	q := newLineup(t, 6)
	q.release()
	for _, j := range []job{run(q.ref, work(plain, 0)), run(q.ref, work(plain, 0))} {
		if code, p := q.do(j); code != 75 && code != 0 {
			t.Errorf("a newcomer: exit %d\n%s", code, p.err.String())
		}
	}
	starts := slices.DeleteFunc(q.over(), func(l line) bool { return l.Name == "" })
	if got := names(starts); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5"}) {
		t.Errorf("started in the order %v", got)
	}
}

// A head that is frozen when its turn comes loses it after 2 s; it takes its
// place again at the end of the line when it thaws.
func TestLine_FrozenHeadLosesItsTurn(t *testing.T) {
	t.Parallel()
	q := newLineup(t, 3)
	q.waiters[0].signal(syscall.SIGSTOP)
	poll(t, patience, "the head freezes", func() bool { return stopped(q.waiters[0].cmd.Process.Pid) })
	q.release()
	second := q.started("1")
	if took := second.At - q.from; took < 1900*time.Millisecond {
		t.Errorf("the head lost its turn after %v already", took)
	}
	q.started("2")
	q.waiters[0].signal(syscall.SIGCONT)
	if got := names(q.over()); !slices.Equal(got, []string{"1", "2", "0"}) {
		t.Errorf("started in the order %v", got)
	}
}

// A head that is dead is not waited for: the next one has the slot before a
// silent one would have lost its turn.
func TestLine_DeadHead(t *testing.T) {
	t.Parallel()
	q := newLineup(t, 3)
	q.waiters[0].kill()
	<-q.waiters[0].done
	q.waiting(q.ref, 2) // the one behind it has seen its end
	q.release()
	if got := names(q.over(0)); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("started in the order %v", got)
	}
}

// 64 come at once, and all are served.
func TestLine_ManyHandOver(t *testing.T) {
	t.Parallel()
	const many = 64
	q := newLineup(t, 0)
	for range many {
		q.join()
	}
	q.waiting(q.ref, many)
	q.release()
	if got := names(q.over()); len(got) != many {
		t.Errorf("%d of %d started: %v", len(got), many, got)
	}
}

// Any of those in line may be killed, before and while the line moves.
func TestLine_RandomKills(t *testing.T) {
	t.Parallel()
	const many, victims = 24, 10
	s := seed(t)
	t.Logf("ONESLOT_SEED=%d", s)
	rnd := rand.New(rand.NewPCG(s, 0))
	q := newLineup(t, 0)
	for range many {
		q.join()
	}
	q.waiting(q.ref, many)
	chosen := rnd.Perm(many)[:victims]
	for i, n := range chosen {
		if i == victims/2 {
			q.release()
		}
		q.waiters[n].kill()
		<-q.waiters[n].done
	}
	// One that had its turn before it was killed has started, or even ended.
	killed := slices.DeleteFunc(chosen, func(n int) bool { return q.waiters[n].cmd.ProcessState.Success() })
	served := names(q.over(killed...))
	for i := range many {
		if !slices.Contains(killed, i) && !slices.Contains(served, fmt.Sprint(i)) {
			t.Errorf("number %d was not served", i)
		}
	}
}

// Who waits sleeps: behind a holder whose process is gone but who keeps the slot
// for a person, and behind a dead waiter, the store is not asked all the time.
func TestLine_NobodyPolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	r := ref(t, "line")
	park := job{args: []string{"run", r.String(), "--", "sh", "-c", `echo '{"outcome":"waiting"}' >$ONESLOT_RESULT`}}
	w.want(0, park)
	var line []*process
	for n := range 3 {
		line = append(line, w.start(run(r, work(plain, 0), "--on-busy", "wait")))
		w.waiting(r, n+1)
	}
	line[1].kill()
	<-line[1].done
	w.waiting(r, 2)
	before := w.asked(r)
	time.Sleep(500 * time.Millisecond) // in which nothing happens
	if n := w.asked(r) - before; n > 2 {
		t.Errorf("asked the store %d times", n)
	}
	w.want(0, job{args: []string{"takeover", r.String(), "--reason", "test"}})
	for _, n := range []int{0, 2} {
		if code := w.code(line[n]); code != 0 {
			t.Errorf("number %d: exit %d", n, code)
		}
	}
}

// asked counts the refusals of a slot.
func (w *world) asked(r slot.Ref) (n int) {
	w.t.Helper()
	all, err := w.db.Decisions(w.ctx, r)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range all {
		if d.Verdict == slot.Defer {
			n += d.Count
		}
	}
	return n
}
