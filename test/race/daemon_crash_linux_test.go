package race

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Where the daemon is killed, where its supervisors are, and where whoever clears
// and settles what a dead run left.
var (
	daemonPoints = []string{
		failpoint.AfterAccept, failpoint.AfterCommit, failpoint.AfterClaimCommit, failpoint.AfterBegin,
		failpoint.BeforeHandover, failpoint.AfterHandover,
	}
	runPoints = []string{
		failpoint.AfterToken, failpoint.BeforeFork, failpoint.AfterFork, failpoint.BeforeIdentity, failpoint.AfterExit,
		failpoint.AfterOutcome, failpoint.BeforeRelease, failpoint.AfterRelease,
	}
	clearPoints = []string{failpoint.BetweenSignals, failpoint.AfterTreeGone, failpoint.BeforeSettle}
)

// soberPoints are those before a worker's fork.
var soberPoints = append(slices.Clone(daemonPoints), failpoint.AfterToken, failpoint.BeforeFork)

// TestDaemonCrash: wishes come by webhook, command line and API, and are sent again
// until they are acknowledged. The daemon and its supervisors are killed with
// SIGKILL at each named point and at any moment, and the daemon is started again.
// Never are two workers on one ref (P1); whatever was acknowledged was told to a run
// that started after it, or has its end on record (P4); no run is without a reason,
// none is left out (P5); nothing is left of a run that ended (P11); and at the end
// the queue is empty, without a hand laid on it.
func TestDaemonCrash(t *testing.T) {
	kills, from := number(t, "ONESLOT_ROUNDS", 25), seed(t)
	c := &daemonCrash{daemons: newDaemons(t, hookedProgram), kills: map[string]int{}}
	points := slices.Concat(daemonPoints, runPoints, clearPoints, []string{anywhere})
	began, rounds := boot(), 0
	for ; c.total() < kills && !t.Failed(); rounds++ {
		r := &crashRound{
			daemonCrash: c, n: rounds, point: points[rounds%len(points)],
			rnd: rand.New(rand.NewPCG(from, uint64(rounds))),
		}
		r.play()
	}
	var all []string
	for _, p := range points {
		all = append(all, fmt.Sprintf("%s %d", p, c.kills[p]))
		if c.kills[p] == 0 && rounds >= len(points) {
			t.Errorf("nobody was killed at %q", p)
		}
	}
	t.Logf("%d kills in %d rounds and %v: %s; %d wishes, %d runs; ONESLOT_SEED=%d", c.total(), rounds,
		(boot() - began).Round(time.Second), strings.Join(all, ", "), c.wishes, c.runs, from)
}

// daemonCrash is the test under way.
type daemonCrash struct {
	*daemons
	kills        map[string]int
	noted        int // bytes of the file in which the killed say where
	wishes, runs int
}

func (c *daemonCrash) total() (n int) {
	for _, k := range c.kills {
		n += k
	}
	return n
}

// notes counts those that were killed at a point since the last count.
func (c *daemonCrash) notes() (names []string) {
	data, err := os.ReadFile(c.path("kills"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Error(err)
	}
	return strings.Fields(string(data[min(c.noted, len(data)) : bytes.LastIndexByte(data, '\n')+1]))
}

func (c *daemonCrash) count() {
	for _, name := range c.notes() {
		c.kills[name]++
		c.noted += len(name) + 1
	}
}

// crashRound is one life of the daemon, its death, and the life after.
type crashRound struct {
	*daemonCrash
	n     int
	point string
	rnd   *rand.Rand
	refs  []slot.Ref

	mu   sync.Mutex
	acks []ack
}

func (r *crashRound) play() {
	r.refs = nil
	for i := range 3 {
		ref, err := slot.ParseCanonical(fmt.Sprintf("github.com/octo-org/round-%d#%d", r.n, i+1))
		if err != nil {
			r.t.Fatal(err)
		}
		r.refs = append(r.refs, ref)
	}
	var clients sync.WaitGroup
	mortal := []string{"ONESLOT_FAILPOINT=" + r.point, "ONESLOT_FAILPOINT_NOTE=" + r.path("kills")}
	switch {
	case slices.Contains(daemonPoints, r.point):
		mortal[0] += fmt.Sprintf(":%d", 1+r.rnd.IntN(3))
		p := r.serve(mortal...)
		r.clients(&clients)
		<-r.over(p)
		r.serve()
	case slices.Contains(runPoints, r.point):
		r.serve(mortal...)
		r.clients(&clients)
		r.awaitKill()
		if r.rnd.IntN(2) == 0 { // another may be killed meanwhile
			time.Sleep(r.upTo(100 * time.Millisecond))
		}
		r.killNow()
		r.serve()
	case slices.Contains(clearPoints, r.point):
		r.serve()
		r.clients(&clients)
		r.killRun()
		r.killNow()
		if p := r.serve(mortal...); r.overOrCalm(p, &clients) {
			r.serve()
		}
	default:
		r.serve()
		r.clients(&clients)
		for range 1 + r.rnd.IntN(3) {
			time.Sleep(r.upTo(150 * time.Millisecond))
			if r.rnd.IntN(2) == 0 {
				r.killRun()
			} else {
				r.killNow()
				r.serve()
			}
		}
	}
	clients.Wait()
	r.drained(r.refs...)
	r.end()
	r.gone()
	r.count()
	r.judge()
}

// clients send wishes for the refs, each in one of the ways, at moments of its own.
// The last ref gets webhooks only, which give no fresh budget: there each try counts.
func (r *crashRound) clients(wg *sync.WaitGroup) {
	for i := range 4 {
		rnd := rand.New(rand.NewPCG(r.rnd.Uint64(), 0))
		wg.Go(func() {
			for k := range 3 {
				ref, by := r.refs[rnd.IntN(len(r.refs))], paths[rnd.IntN(len(paths))]
				if ref == r.refs[len(r.refs)-1] {
					by = (*daemons).byWebhook
				}
				a := r.wish(by, ref, fmt.Sprintf("wish-%d-%d-%d", r.n, i, k))
				r.mu.Lock()
				r.acks = append(r.acks, a)
				r.mu.Unlock()
				time.Sleep(time.Duration(rnd.Int64N(int64(100 * time.Millisecond))))
			}
		})
	}
}

// over is closed when a daemon has died by itself; that it does not is a fault.
func (r *crashRound) over(p *process) <-chan struct{} {
	select {
	case <-p.done:
	case <-time.After(patience):
		r.t.Errorf("round %d: the daemon did not come to %q\n%s", r.n, r.point, p.err.String())
		r.kill()
	}
	return p.done
}

// overOrCalm waits until a daemon has died by itself, or has had no reason to: what
// the dead run left was gone before anybody had to end it.
func (r *crashRound) overOrCalm(p *process, clients *sync.WaitGroup) (died bool) {
	r.t.Helper()
	sent := make(chan struct{})
	go func() {
		clients.Wait()
		close(sent)
	}()
	poll(r.t, patience, "the daemon dies, or has nothing to do", func() bool {
		select {
		case <-p.done:
			died = true
			return true
		case <-sent:
			return len(r.open(r.refs...)) == 0
		default:
			return false
		}
	})
	return died
}

// awaitKill waits until a supervisor was killed.
func (r *crashRound) awaitKill() {
	r.t.Helper()
	poll(r.t, patience, "a supervisor is killed at "+r.point, func() bool { return len(r.notes()) > 0 })
}

// killNow kills the daemon.
func (r *crashRound) killNow() {
	r.kill()
	r.kills[anywhere]++
}

// killRun kills the supervisor of a run at work, if there comes one.
func (r *crashRound) killRun() {
	r.t.Helper()
	victim := 0
	for end := boot() + 2*time.Second; victim == 0 && boot() < end; time.Sleep(time.Millisecond) {
		items, err := r.db.Queue().Items(r.ctx, queue.Filter{State: string(queue.Running)})
		if err != nil {
			r.t.Error(err)
		}
		for _, it := range items {
			if run, err := r.db.Run(r.ctx, it.Run); err == nil && run.State == slot.RunRunning {
				victim = run.Holder.Process.PID
			}
		}
	}
	if victim != 0 && syscall.Kill(victim, syscall.SIGKILL) == nil {
		r.kills[anywhere]++
	}
}

func (r *crashRound) upTo(d time.Duration) time.Duration {
	return time.Duration(r.rnd.Int64N(int64(d)))
}

// judge reads what happened in the round.
func (r *crashRound) judge() {
	lines := r.fresh()
	faults := judge(lines)
	for _, ref := range r.refs {
		p := r.past(ref, lines, r.acks, slices.Contains(soberPoints, r.point))
		r.runs += len(p.runs)
		for _, f := range p.judge() {
			faults = append(faults, ref.String()+": "+f)
		}
	}
	r.wishes += len(r.acks)
	for _, f := range faults {
		r.t.Errorf("round %d (%s): %s", r.n, r.point, f)
	}
}
