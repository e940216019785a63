package race

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// points are the named moments of a kill; anywhere is any other.
var points = []string{
	failpoint.AfterWaiterRow, failpoint.AfterClaimCommit, failpoint.AfterToken, failpoint.BetweenSignals,
	failpoint.AfterTreeGone, failpoint.BeforeFork, failpoint.AfterFork, failpoint.BeforeIdentity,
	failpoint.AfterExit, failpoint.AfterOutcome, failpoint.BeforeRelease, failpoint.AfterRelease, anywhere,
}

const anywhere = "anywhere"

// leftTime is how long those may take to be gone who were told to, such as the
// warden of a supervisor that was killed.
const leftTime = 15 * time.Second

// TestCrash: processes claim, run, take over and give back at random, and are
// killed with SIGKILL at each named point and at any moment. Never are two trees
// on one slot (P1, P11), fences grow (P2), strangers change nothing (P3), and
// afterwards each slot can be had, and nothing is left: no process, no open run,
// no entry in the registry, nobody in line.
func TestCrash(t *testing.T) {
	rounds, seed := number(t, "ONESLOT_ROUNDS", 8), seed(t)
	c := &crash{world: newWorld(t, hookedProgram), kills: map[string]int{}}
	began := boot()
	done := 0
	for ; done < rounds && !t.Failed(); done++ {
		c.round(done, seed)
	}
	c.count()
	t.Logf("%d rounds in %v, kills: %s; ONESLOT_SEED=%d", done, (boot() - began).Round(time.Second), c.summary(), seed)
	for _, p := range points {
		if c.kills[p] == 0 && 2*done >= len(points) {
			t.Errorf("nobody was killed at %q", p)
		}
	}
}

// crash is the test under way.
type crash struct {
	*world
	mu     sync.Mutex
	kills  map[string]int
	claims []grant // detached ones of this round
	fence  map[string]int64
}

// round has two slots crash at two points, with others at work on them.
func (c *crash) round(n int, seed uint64) {
	var wg sync.WaitGroup
	refs := []slot.Ref{ref(c.t, "slot-0"), ref(c.t, "slot-1")}
	for i, r := range refs {
		wg.Go(func() {
			s := &stage{
				crash: c, ref: r, point: points[(2*n+i)%len(points)],
				rnd: rand.New(rand.NewPCG(seed, uint64(2*n+i))),
			}
			s.forced, s.crowded = s.rnd.IntN(2) == 0, s.rnd.IntN(2) == 0 && 2*n >= len(points)
			s.play()
		})
	}
	wg.Wait()
	for _, r := range refs {
		wg.Go(func() { c.settled(r) })
	}
	wg.Wait()
	for end := boot() + leftTime; len(c.mine()) > 0; time.Sleep(5 * time.Millisecond) {
		if boot() > end {
			c.t.Errorf("round %d left %v", n, c.mine())
			break
		}
	}
	c.judge(n)
}

// settled takes the slot once more, as soon as its deadline allows, and looks
// for what is left.
func (c *crash) settled(r slot.Ref) {
	free := time.Second
	if live := c.look(r).Live(); live != nil && live.Kind == slot.Detached && !live.Bound {
		free += max(live.Left, 0)
	}
	j := run(r, work(plain, 0), "--ttl", "1s", "--on-busy", "wait", "--wait-max", free.Round(time.Millisecond).String())
	if code, p := c.do(j); code != 0 {
		c.t.Errorf("%s cannot be had within %v: exit %d\n%s", r, free, code, p.err.String())
	}
	if open, err := c.db.OpenRuns(c.ctx, r); err != nil || len(open) > 0 {
		c.t.Errorf("%s has open runs %+v (%v)", r, open, err)
	}
	if open, err := rundir.In(c.db.Dir()).Open(r.Slug()); err != nil || len(open) > 0 {
		c.t.Errorf("%s has runs in the registry: %v (%v)", r, open, err)
	}
	if s := c.look(r); s.Live() != nil || s.Waiting > 0 {
		c.t.Errorf("%s is not at rest: %+v, %d wait", r, s.Newest, s.Waiting)
	}
}

// judge reads what happened in the round.
func (c *crash) judge(n int) {
	lines := c.fresh()
	faults := judge(lines, c.claims...)
	low, high := map[string]int64{}, map[string]int64{}
	for _, g := range append(grants(lines), c.claims...) {
		if low[g.slot] == 0 || g.fence < low[g.slot] {
			low[g.slot] = g.fence
		}
		high[g.slot] = max(high[g.slot], g.fence)
	}
	for s, f := range low {
		if f <= c.fence[s] {
			faults = append(faults, fmt.Sprintf("P2: the fence of %s went back from %d to %d", s, c.fence[s], f))
		}
	}
	c.fence, c.claims = high, nil
	for _, f := range faults {
		c.t.Errorf("round %d: %s", n, f)
	}
}

// count adds the kills at named points, as the killed have noted them.
func (c *crash) count() {
	data, err := os.ReadFile(c.path("kills"))
	if err != nil {
		c.t.Error(err)
	}
	for _, name := range strings.Fields(string(data)) {
		c.kills[name]++
	}
}

func (c *crash) summary() string {
	var all []string
	for _, p := range points {
		all = append(all, fmt.Sprintf("%s %d", p, c.kills[p]))
	}
	return strings.Join(all, ", ")
}

// stage is one slot in one round.
type stage struct {
	*crash
	ref    slot.Ref
	point  string
	forced bool // takeover, stop and --force are used
	// crowded: the others are there before the victim, and may bring it to
	// another end. At first they come later, so that each point is reached.
	crowded bool
	rnd     *rand.Rand
	sent    sync.WaitGroup
}

// play brings a victim to its point, others being at work or coming later.
func (s *stage) play() {
	defer s.sent.Wait()
	if s.crowded {
		s.crowd()
	}
	v := s.victim()
	if s.point == anywhere {
		s.killLater(v, 400*time.Millisecond)
	}
	if !s.crowded {
		<-v.done
		s.crowd()
	}
	s.code(v)
}

// victim starts the one who dies at the stage's point, after what it takes for
// the point to be reached.
func (s *stage) victim() *process {
	at := []string{"ONESLOT_FAILPOINT=" + s.point, "ONESLOT_FAILPOINT_NOTE=" + s.path("kills")}
	wait := []string{"--ttl", "1s", "--on-busy", "wait", "--wait-max", "5s"}
	switch s.point {
	case failpoint.AfterWaiterRow: // somebody has the slot
		holder := s.start(run(s.ref, append(work(s.shape(), time.Second), s.named("holder")), wait...))
		s.working(holder, "holder")
		s.sent.Go(func() { s.expect(holder, runCodes) })
	case failpoint.BetweenSignals, failpoint.AfterTreeGone: // somebody left a tree
		holder := s.start(run(s.ref, append(work(stubborn, 10*time.Second), s.named("left")), wait...))
		if s.working(holder, "left") {
			s.killTree(holder)
		}
		if args := s.ending(); s.forced && s.rnd.IntN(2) == 0 {
			return s.start(job{args, at})
		}
	}
	return s.start(run(s.ref, append(work(s.shape(), s.upTo(100*time.Millisecond)), at...), wait...))
}

func (s *stage) named(name string) string { return nameVar + "=" + name + "-" + s.ref.Slug() }

// working waits for the first word of a holder's worker, or for the holder's end.
func (s *stage) working(p *process, name string) (yes bool) {
	poll(s.t, patience, "a worker starts", func() bool {
		lines, _, err := readJournal(s.path("journal"), s.offset)
		if err != nil {
			s.t.Error(err)
			return true
		}
		yes = slices.ContainsFunc(lines, func(l line) bool {
			return nameVar+"="+l.Name == s.named(name) && l.Spawned == p.spawned
		})
		select {
		case <-p.done:
			return true
		default:
			return yes
		}
	})
	return yes
}

// killTree kills a supervisor and its warden, if it has one, and leaves the
// worker's tree.
func (s *stage) killTree(p *process) {
	live, err := processes(func(env map[string]string) bool {
		return env["ONESLOT_RUN"] != "" && env[worldVar] == ""
	})
	if err != nil {
		s.t.Error(err)
	}
	p.kill()
	<-p.done
	s.note(anywhere)
	for _, w := range live {
		if r, err := s.db.Run(s.ctx, w.env["ONESLOT_RUN"]); err == nil && r.Holder.Process.PID == p.cmd.Process.Pid {
			killPID(s.t, w.pid)
		}
	}
}

// killLater kills a process at any moment of the given time.
func (s *stage) killLater(p *process, most time.Duration) {
	after := s.upTo(most)
	s.sent.Go(func() {
		select {
		case <-p.done:
		case <-time.After(after):
			p.kill()
			<-p.done
			s.note(anywhere)
		}
	})
}

func (s *stage) note(point string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills[point]++
}

func (s *stage) upTo(d time.Duration) time.Duration { return time.Duration(s.rnd.Int64N(int64(d))) }

func (s *stage) shape() string { return []string{plain, plain, stubborn, strayed}[s.rnd.IntN(4)] }
