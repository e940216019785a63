package race

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

// reservePoints are the moments at which a contender for a reservation is killed, or
// frozen.
var reservePoints = []string{
	failpoint.AfterReserveNote, failpoint.AfterReservePost, failpoint.AfterReserveEdit, failpoint.AfterReserveLock, anywhere,
}

// TestReservations: programs of several hosts, each with a store of its own, race for
// one issue. The forge's lists are behind, lower ids become visible after higher ones,
// answers are slow or lost; contenders are killed and frozen, at named points and at
// any moment. Never are two workers on the issue, as long as the lists are behind by
// less than the wait; in the end everybody who tries again has had it, or finds it
// closed; and of all of that no comment and no lock is left.
func TestReservations(t *testing.T) {
	t.Parallel()
	rounds, from := number(t, "ONESLOT_ROUNDS", 12), seed(t)
	kinds := []forgetest.Kind{forgetest.GitHub, forgetest.Gitea, forgetest.GitLab}
	all, began := &tally{n: map[string]int{}}, boot()
	lanes := map[string]func(*testing.T){}
	for i, kind := range kinds {
		lanes[string(kind)] = func(t *testing.T) {
			l := &lane{apart: newApart(t, settings{kind: kind, hosts: 3, recheck: "400ms-700ms", lock: i != 1}), tally: all}
			for n := i; n < rounds && !t.Failed(); n += len(kinds) {
				l.round(n, n/len(kinds), rand.New(rand.NewPCG(from, uint64(n))))
			}
		}
	}
	together(t, lanes)
	t.Logf("%d rounds in %v: %v; ONESLOT_SEED=%d", rounds, (boot() - began).Round(time.Second), all, from)
	for _, p := range reservePoints {
		for _, what := range []string{"killed " + p, "frozen " + p} {
			if all.n[what] == 0 && rounds >= 100 {
				t.Errorf("nobody was %s", what)
			}
		}
	}
}

// tally is what happened, and how often.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (y *tally) saw(what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.n[what]++
}

func (y *tally) String() string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(y.n)) {
		all = append(all, fmt.Sprintf("%s %d", what, y.n[what]))
	}
	return strings.Join(all, ", ")
}

// lane is the rounds at one kind of forge.
type lane struct {
	*apart
	*tally
}

// race is one round: an issue, and who wants it.
type race struct {
	*lane
	n      int
	at     forgetest.At
	ref    slot.Ref
	closes bool // whoever ends well closes the issue, and the others find it closed
	lossy  bool // answers are lost
	serves bool // daemons work, by their queues
}

// round is the n-th of all rounds, and the k-th of its lane.
func (l *lane) round(n, k int, rnd *rand.Rand) {
	r := &race{lane: l, n: n, closes: rnd.IntN(2) == 0, serves: rnd.IntN(4) == 0}
	r.at, r.ref = l.issue()
	remove := r.weather(rnd)
	who := slices.Clone(l.hosts)
	rnd.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
	who = who[:2+rnd.IntN(2)]
	began, hurt := boot(), map[*host]bool{}
	var wg sync.WaitGroup
	for i, h := range who {
		c := &contest{race: r, host: h, rnd: rand.New(rand.NewPCG(rnd.Uint64(), uint64(i))), point: unhurt}
		switch { // one of them each time, in all the ways
		case i == 0:
			c.point, c.freeze = reservePoints[k%len(reservePoints)], k/len(reservePoints)%2 == 0
		case rnd.IntN(3) == 0:
			c.point, c.freeze = reservePoints[rnd.IntN(len(reservePoints))], rnd.IntN(2) == 0
		}
		hurt[h] = c.point != unhurt || r.lossy
		if r.serves {
			r.saw("daemons")
			wg.Go(c.serve)
		} else {
			wg.Go(c.play)
		}
	}
	wg.Wait()
	r.calm(remove)
	for _, h := range who {
		if left := r.left(r.at, h); len(left) > 0 && !hurt[h] {
			r.fault("%s left %q", h.name, left)
		} else if len(left) > 0 {
			r.saw("tidied by the next process")
		}
		if hurt[h] {
			h.tidy()
		}
	}
	for _, text := range r.left(r.at, nil) {
		r.fault("left behind: %s", text)
	}
	faults := append(r.untouched(r.at), both(r.lines())...)
	for _, f := range faults {
		r.fault("%s", f)
	}
	if r.t.Failed() {
		r.t.Logf("round %d at %s took %v", n, r.ref, boot()-began)
	}
}

func (r *race) fault(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("round %d: %s", r.n, fmt.Sprintf(format, args...))
}

// weather has the forge behave badly in this round.
func (r *race) weather(rnd *rand.Rand) (remove []func()) {
	var reads forgetest.Reads
	if r.forge.Kind() != forgetest.Gitea { // whose reads are never behind
		reads.Lag, reads.Counter = forgetest.Range{Max: late}, rnd.IntN(2) == 0
	}
	if rnd.IntN(2) == 0 {
		reads.Commit = forgetest.Range{Max: early}
	}
	r.forge.SetReads(reads)
	about := "/comments"
	if r.forge.Kind() == forgetest.GitLab {
		about = "/notes"
	}
	if r.lossy = rnd.IntN(2) == 0; r.lossy {
		for _, method := range []string{"POST", "PATCH", "PUT", "DELETE"} {
			f := forgetest.Stored(method)
			if rnd.IntN(2) == 0 {
				f = forgetest.Lost(method)
			}
			f.Path, f.Every, f.Times, f.Delay = about, 1+rnd.IntN(3), 1+rnd.IntN(3), forgetest.Range{Max: 200 * time.Millisecond}
			remove = append(remove, r.forge.Inject(f))
		}
	}
	if rnd.IntN(2) == 0 {
		remove = append(remove, r.forge.Inject(forgetest.Fault{Path: about, Delay: forgetest.Range{Max: 150 * time.Millisecond}}))
	}
	return remove
}

// unhurt is the point of a contender to whom nothing happens.
const unhurt = ""

// contest is a contender, from its first process to its last.
type contest struct {
	*race
	host   *host
	rnd    *rand.Rand
	point  string // at which the first process is hurt
	freeze bool   // and not killed
}

// play tries until the issue was worked on, or is closed.
func (c *contest) play() {
	c.pause(300 * time.Millisecond)
	for end, first := boot()+patience, true; ; first = false {
		code, p := c.try(first)
		switch {
		case code == 0:
			c.saw("won")
			if c.closes {
				c.forge.Close(c.at, c.host.login)
			}
			return
		case code == 80 && c.closes:
			c.saw("closed")
			return
		case code == 75:
			c.saw("busy")
		case code == 69:
			c.saw("unknown")
		case code == -int(syscall.SIGKILL) && first && c.point != unhurt && !c.freeze:
			if c.rnd.IntN(2) == 0 { // its folder's next process is about something else
				c.host.rests() // its worker may still be at work: what is said of that stays
				c.host.tidy()
				c.saw("gave up")
				return
			}
		default:
			c.fault("%s: exit %d\n%s", c.host.name, code, p.err.String())
			return
		}
		if boot() > end {
			c.fault("%s could not have it within %v\n%s", c.host.name, patience, p.err.String())
			return
		}
		c.pause(150 * time.Millisecond)
	}
}

// try is one process.
func (c *contest) try(first bool) (code int, p *process) {
	env := work(plain, 50*time.Millisecond+c.upTo(250*time.Millisecond))
	if !first || c.point == unhurt {
		return c.host.do(c.host.run(c.ref, env))
	}
	notes := c.host.path(fmt.Sprintf("notes-%d", c.n))
	switch {
	case c.point == anywhere && c.freeze:
		env = work(plain, time.Second) // so that it is hurt at work, too
	case c.point == anywhere:
		env = work(plain, 3*time.Second) // which goes on without its supervisor
	case c.freeze:
		env = append(env, "ONESLOT_FAILPOINT_PAUSE="+c.point)
	default:
		env = append(env, "ONESLOT_FAILPOINT="+c.point, "ONESLOT_FAILPOINT_NOTE="+notes)
	}
	p = c.host.start(c.host.run(c.ref, env))
	switch {
	case c.point == anywhere && c.freeze:
		c.pause(1500 * time.Millisecond)
		p.signal(syscall.SIGSTOP)
		c.frozen(p, c.upTo(3*time.Second))
	case c.point == anywhere:
		c.pause(2 * time.Second)
		p.kill()
	case c.freeze:
		c.frozen(p, c.upTo(3*time.Second))
	}
	code = c.host.code(p)
	if data, err := os.ReadFile(notes); err == nil && string(data) != "" || c.point == anywhere && code == -int(syscall.SIGKILL) {
		c.saw("killed " + c.point)
	}
	return code, p
}

// frozen waits for a process to freeze, and lets it thaw after a while.
func (c *contest) frozen(p *process, after time.Duration) {
	for !stopped(p.cmd.Process.Pid) {
		select {
		case <-p.done:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	c.saw("frozen " + c.point)
	select {
	case <-p.done:
	case <-time.After(after):
		p.signal(syscall.SIGCONT)
	}
}

func (c *contest) upTo(most time.Duration) time.Duration {
	return time.Duration(c.rnd.Int64N(int64(most)))
}

func (c *contest) pause(most time.Duration) { time.Sleep(c.upTo(most)) }
