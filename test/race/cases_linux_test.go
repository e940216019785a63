package race

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/slot"
)

// C02: a person's command beside a dispatcher that starts the same thing again
// and again. There is one worker at any time, and the person is told who it is.
func TestC02_ByHandBesideALoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	r := ref(t, "c02")
	var loop sync.WaitGroup
	loop.Go(func() {
		for !exists(w.path("stop")) {
			env := append(work(plain, 20*time.Millisecond), nameVar+"=loop")
			if code, p := w.do(run(r, env, "-q")); code != 0 && code != 75 {
				t.Errorf("the loop: exit %d\n%s", code, p.err.String())
			}
		}
	})
	won, refused := 0, 0
	for end := boot() + patience; (won < 5 || refused < 5) && boot() < end; {
		env := append(work(plain, 20*time.Millisecond), nameVar+"=hand")
		switch code, p := w.do(run(r, env)); code {
		case 0:
			won++
		case 75:
			refused++
			if s := p.err.String(); !strings.Contains(s, "is held by helper (supervisor pid ") || !strings.Contains(s, "since") || !strings.Contains(s, " on ") {
				t.Errorf("refused with\n%s", s)
			}
		default:
			t.Errorf("by hand: exit %d\n%s", code, p.err.String())
		}
	}
	touch(t, w.path("stop"))
	loop.Wait()
	if lines := w.clean(); won < 5 || refused < 5 || starts(lines) < won {
		t.Errorf("by hand: %d won, %d refused; %d starts in all", won, refused, starts(lines))
	}
}

// The twin: two that peek at the same moment both see it free.
func TestC02_PeekingIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	peekers{w, w.peeks}.race(2, refs(t, 1))
	w.caught("a gate that only peeks")
}

// C06: 20 ask for "the next free one" of 20 at the same moment, without a run:
// each gets one, all differ.
func TestC06_ManyClaimersOneList(t *testing.T) {
	t.Parallel()
	const many = 20
	w := newWorld(t, plainProgram)
	args := []string{"claim", "--any", "--json"}
	for _, r := range refs(t, many) {
		args = append(args, r.String())
	}
	var all []*process
	for range many {
		all = append(all, w.start(job{args: args}))
	}
	got := map[string]bool{}
	for _, p := range all {
		var h struct{ Ref string }
		if code := w.code(p); code != 0 || json.Unmarshal(p.out.Bytes(), &h) != nil {
			t.Errorf("exit %d: %s%s", code, p.out.String(), p.err.String())
		}
		got[h.Ref] = true
	}
	if len(got) != many {
		t.Errorf("%d claimers have %d refs", many, len(got))
	}
}

func TestC06_PeekingIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	taken := map[slot.Ref]bool{}
	for _, r := range (peekers{w, w.peeks}).race(3, refs(t, 3)) {
		taken[r] = true
	}
	if len(taken) == 3 {
		t.Error("peekers that start at the same moment have a ref each")
	}
	w.caught("the first free one by a peek")
}

// C05, C20, P3: the same login and host, a claim of one's own, a claim that ran
// out: whatever strangers have, all at once they change nothing.
func TestC05C20_StrangersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	if fault := strangers(w, nil); fault != "" {
		t.Error(fault)
	}
}

// The twin: a release by anybody of the same host and login.
func TestC05C20_SameUserIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	fault := strangers(w, func(r slot.Ref) {
		own := w.look(r).Live()
		w.want(0, job{args: []string{"takeover", r.String(), "--reason", "it says " + own.Holder.Host + ", so it is mine"}})
	})
	if fault == "" {
		t.Error("a store that lets everybody of the host release was not caught")
	}
}

// strangers act on the claim of another, beside what wrong does. It says what
// they changed.
func strangers(w *world, wrong func(slot.Ref)) (fault string) {
	w.t.Helper()
	r, expired := ref(w.t, "mine"), ref(w.t, "theirs")
	take := func(r slot.Ref, more ...string) []string {
		var h held
		p := w.want(0, job{args: append([]string{"claim", r.String(), "--json"}, more...)})
		if err := json.Unmarshal(p.out.Bytes(), &h); err != nil {
			w.t.Fatal(err)
		}
		return []string{"--claim", h.Claim, "--token", h.Token}
	}
	old := take(r, "--ttl", "1s")
	poll(w.t, patience, "the old claim runs out", func() bool { return w.look(r).Live().Expired() })
	own, theirs := take(r), take(expired)
	crossed := []string{"--claim", own[1], "--token", theirs[3]}
	before := *w.look(r).Live()
	var all []*process
	for _, key := range [][]string{old, crossed} {
		for _, verb := range []string{"check", "renew", "release"} {
			all = append(all, w.start(job{args: append([]string{verb}, key...)}))
		}
	}
	if wrong != nil {
		wrong(r)
	}
	for _, p := range all {
		if code := w.code(p); code != 81 {
			w.t.Errorf("a stranger's %s: exit %d, want 81", p.cmd.Args[1], code)
		}
	}
	if code, p := w.do(job{args: append([]string{"check"}, own...)}); code != 0 {
		return "the owner's check: " + p.err.String()
	}
	if now := *w.look(r).Live(); now.Fence != before.Fence || now.ExpiresAt != before.ExpiresAt {
		return "the claim is another one"
	}
	return ""
}

// C11: a run whose supervisor is between claim and fork is "starting". It counts
// as held, and nobody who comes by touches it.
func TestC11_StartingIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hookedProgram)
	r := ref(t, "c11")
	p := w.paused(run(r, work(plain, 0)), failpoint.AfterToken)
	for range 3 {
		var h struct{ State, Reason string }
		q := w.want(75, job{args: []string{"peek", "--json", r.String()}})
		if err := json.Unmarshal(q.out.Bytes(), &h); err != nil || h.State != "held" {
			t.Errorf("peek: %s (%v)", q.out.String(), err)
		}
		w.want(75, run(r, work(plain, 0)))
	}
	if c := w.look(r).Live(); c == nil || c.Phase != slot.Starting || c.Left > slot.StartTTL+c.Grace {
		t.Errorf("%+v; want it starting, with a deadline of its own", c)
	}
	p.signal(syscall.SIGCONT)
	if code := w.code(p); code != 0 {
		t.Errorf("exit %d\n%s", code, p.err.String())
	}
	if n := starts(w.clean()); n != 1 {
		t.Errorf("%d starts", n)
	}
}

// The twin: a sweep that looks for the worker's process frees what only starts.
func TestC11_LookingForTheWorkerIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hookedProgram)
	r := ref(t, "c11")
	p := w.paused(run(r, work(plain, time.Second)), failpoint.BeforeFork)
	peekers{w, func(r slot.Ref) bool {
		live, err := processes(func(env map[string]string) bool {
			return env["ONESLOT_SLUG"] == r.Slug() && env[worldVar] == w.dir
		})
		p.signal(syscall.SIGCONT)
		return err == nil && len(live) == 0
	}}.race(1, []slot.Ref{r})
	w.code(p)
	w.caught("a look for the worker's process")
}

// C12: the dispatcher is killed (a) between claim and spawn, (b) between spawn
// and noting who it is. Four come at once: each gets its turn, none beside a
// worker that lives, and nothing has to be mended.
func TestC12_DispatcherDiesHalfWay(t *testing.T) {
	for _, point := range []string{failpoint.AfterClaimCommit, failpoint.BeforeFork, failpoint.AfterFork, failpoint.BeforeIdentity} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hookedProgram)
			r := ref(t, "c12")
			w.want(-int(syscall.SIGKILL), run(r, append(work(strayed, 5*time.Second), "ONESLOT_FAILPOINT="+point), "--ttl", "1s"))
			var all []*process
			for range 4 {
				all = append(all, w.start(run(r, work(plain, 20*time.Millisecond), "--ttl", "1s", "--on-busy", "wait")))
			}
			for _, p := range all {
				if code := w.code(p); code != 0 {
					t.Errorf("exit %d\n%s", code, p.err.String())
				}
			}
			if n := starts(w.clean()); n < 4 || n > 5 {
				t.Errorf("%d starts", n)
			}
		})
	}
}

// The twin: one who believes what was noted of the worker starts beside it.
func TestC12_NotedProcessIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hookedProgram)
	r := ref(t, "c12")
	env := append(work(stubborn, 5*time.Second), "ONESLOT_FAILPOINT="+failpoint.BeforeIdentity, nameVar+"=first")
	w.want(-int(syscall.SIGKILL), run(r, env))
	w.started("first")
	peekers{w, func(r slot.Ref) bool {
		noted, err := os.ReadFile(w.look(r).Newest.Dir + "/identity.json")
		return err == nil && !strings.Contains(string(noted), `"worker"`)
	}}.race(1, []slot.Ref{r})
	w.caught("the noted process")
}

// A run whose claim was taken from it while it began does not end its successor:
// that one is not an earlier run.
func TestLoserSparesItsSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hookedProgram)
	r := ref(t, "forced")
	a := w.paused(run(r, work(plain, 0)), failpoint.AfterToken)
	b := w.paused(run(r, work(plain, 0), "--force", "--reason", "test"), failpoint.AfterToken)
	a.signal(syscall.SIGCONT)
	if code := w.code(a); code != 81 {
		t.Errorf("the loser: exit %d\n%s", code, a.err.String())
	}
	b.signal(syscall.SIGCONT)
	if code := w.code(b); code != 0 {
		t.Errorf("its successor: exit %d\n%s", code, b.err.String())
	}
	if n := starts(w.clean()); n != 1 {
		t.Errorf("%d starts", n)
	}
}

// paused starts a command and waits until it is frozen at the point. One that
// froze just before it gave the store's lock back would be killed by the next
// who writes, which is right and not meant here: then another one is started.
func (w *world) paused(j job, point string) *process {
	w.t.Helper()
	j.env = append(j.env, "ONESLOT_FAILPOINT_PAUSE="+point)
	for {
		p := w.start(j)
		poll(w.t, patience, "it freezes at "+point, func() bool { return stopped(p.cmd.Process.Pid) })
		if !w.locked() {
			return p
		}
		p.kill()
		<-p.done
	}
}

// locked reports whether somebody has the writers' turn.
func (w *world) locked() bool {
	w.t.Helper()
	f, err := os.Open(w.path("state/oneslot.db.lock"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close() // and with it the lock
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
