package race

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Exit codes that a contender may see, whoever is killed beside it.
var (
	runCodes   = []int{0, 75, 81, 137, 143} // the last two: somebody stopped the worker
	claimCodes = []int{0, 75, 81}           // the last: forced out while it ended what was left
	ownerCodes = []int{0, 81}
	endCodes   = []int{0, 75}
)

// crowd sends some contenders for the slot, each at a moment of its own; one in
// three is killed at another.
func (s *stage) crowd() {
	acts := []func(*contender){(*contender).run, (*contender).queue, (*contender).claim, (*contender).stranger, (*contender).peek}
	if s.forced {
		acts = append(acts, (*contender).force, (*contender).end)
	}
	for range 2 + s.rnd.IntN(2) {
		c := &contender{stage: s, rnd: rand.New(rand.NewPCG(s.rnd.Uint64(), 0)), mortal: s.rnd.IntN(3) == 0}
		act, when := acts[s.rnd.IntN(len(acts))], s.upTo(300*time.Millisecond)
		s.sent.Go(func() {
			time.Sleep(when)
			act(c)
		})
	}
}

// contender is one of the others. It has luck of its own, so that a seed means
// the same whatever order they come in.
type contender struct {
	*stage
	rnd    *rand.Rand
	mortal bool
}

// do runs one command, and kills it if the contender is mortal.
func (c *contender) do(j job, codes []int) (int, *process) {
	p := c.start(j)
	if c.mortal {
		after := time.Duration(c.rnd.Int64N(int64(400 * time.Millisecond)))
		c.sent.Go(func() {
			select {
			case <-p.done:
			case <-time.After(after):
				p.kill()
				<-p.done
				c.note(anywhere)
			}
		})
	}
	return c.expect(p, codes), p
}

// expect waits for a process that may have been killed, by us or as a holder
// that does not act, or else ends with one of the codes.
func (s *stage) expect(p *process, codes []int) int {
	code := s.code(p)
	if code != -int(syscall.SIGKILL) && !slices.Contains(codes, code) {
		s.t.Errorf("oneslot %s: exit %d\n%s%s", strings.Join(p.cmd.Args[1:], " "), code, p.out.String(), p.err.String())
	}
	return code
}

func (c *contender) work() []string {
	return work([]string{plain, plain, stubborn, strayed}[c.rnd.IntN(4)], time.Duration(c.rnd.Int64N(int64(150*time.Millisecond))))
}

func (c *contender) run() { c.do(run(c.ref, c.work(), "--ttl", "1s"), runCodes) }

func (c *contender) queue() {
	c.do(run(c.ref, c.work(), "--ttl", "1s", "--on-busy", "wait", "--wait-max", "5s"), runCodes)
}

func (c *contender) force() {
	c.do(run(c.ref, c.work(), "--ttl", "1s", "--force", "--reason", "crash test"), runCodes)
}

func (c *contender) peek() { c.do(job{args: []string{"peek", "-q", c.ref.String()}}, []int{0, 75}) }

// ending is a command that ends whatever has the slot.
func (s *stage) ending() []string {
	if s.rnd.IntN(2) == 0 {
		return []string{"stop", s.ref.String()}
	}
	return []string{"takeover", s.ref.String(), "--reason", "crash test"}
}

func (c *contender) end() {
	args := []string{"stop", c.ref.String()}
	if c.rnd.IntN(2) == 0 {
		args = []string{"takeover", c.ref.String(), "--reason", "crash test"}
	}
	c.do(job{args: args}, endCodes)
}

// held is what `claim --json` and `peek --json` print, as far as it matters.
type held struct {
	Claim string
	Token string
	Fence int64
}

// claim takes the slot without a run, works under it, renews and gives it back;
// or it forgets to. Nobody else works between its grant and its deadline, unless
// somebody forced it out.
func (c *contender) claim() {
	from := boot()
	code, p := c.do(job{args: []string{"claim", c.ref.String(), "--json", "--ttl", "1s"}}, claimCodes)
	if code != 0 {
		return
	}
	var h held
	if err := json.Unmarshal(p.out.Bytes(), &h); err != nil {
		c.t.Errorf("claim printed %q", p.out.String())
		return
	}
	g := grant{slot: c.ref.Slug(), who: "a claim", fence: h.Fence, from: from, to: boot()}
	g.first, g.last = g.to, max(g.to, from+time.Second-time.Millisecond)
	key := []string{"--claim", h.Claim, "--token", h.Token}
	time.Sleep(time.Duration(c.rnd.Int64N(int64(100 * time.Millisecond))))
	if c.rnd.IntN(2) == 0 {
		sent := boot()
		if code, _ := c.do(job{args: append([]string{"renew"}, key...)}, ownerCodes); code == 0 {
			g.last = sent + time.Second - time.Millisecond
		}
	}
	if c.rnd.IntN(3) > 0 {
		g.last = max(g.first, min(g.last, boot()))
		c.do(job{args: append([]string{"release"}, key...)}, ownerCodes)
	}
	if c.forced {
		g.first, g.last = 1, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims = append(c.claims, g)
}

// stranger acts on whatever claim the slot has, without its token (P3).
func (c *contender) stranger() {
	_, p := c.do(job{args: []string{"peek", "--json", c.ref.String()}}, []int{0, 75})
	var h held
	if json.Unmarshal(p.out.Bytes(), &h) != nil || h.Claim == "" {
		return
	}
	for _, verb := range []string{"renew", "check", "release"} {
		c.do(job{args: []string{verb, "--claim", h.Claim, "--token", strings.Repeat("a", 32)}}, []int{81})
	}
}

func killPID(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Error(err)
	}
}
