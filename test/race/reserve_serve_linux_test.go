package race

import (
	"fmt"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
)

// serve is play with a daemon of the host's own, and wishes in its queue. What is hurt
// is the daemon.
func (c *contest) serve() {
	c.pause(300 * time.Millisecond)
	daemon := c.daemon(c.point)
	defer func() {
		daemon.signal(syscall.SIGTERM)
		if code := c.host.code(daemon); code != 0 {
			c.fault("%s, the daemon: exit %d\n%s", c.host.name, code, daemon.err.String())
		}
	}()
	c.wish(0)
	for end, wishes := boot()+patience, 1; c.state().State != queue.Idle; time.Sleep(20 * time.Millisecond) {
		if c.died(daemon) {
			daemon = c.daemon(unhurt)
		}
		if it := c.state(); it.State == queue.Pending && it.Due.After(time.Now().Add(time.Second)) {
			c.pause(time.Second)
			c.wish(wishes) // which has it looked at now, as an event of the forge would
			wishes++
		}
		if boot() > end {
			_, p := c.host.do(job{[]string{"why", c.ref.String()}, c.host.env})
			c.fault("%s could not serve it within %v\n%s\n%s", c.host.name, patience, daemon.err.String(), p.out.String())
			return
		}
	}
	if c.died(daemon) {
		daemon = c.daemon(unhurt)
	}
	// What is said on the forge ends by itself, and soon.
	for end := boot() + 20*time.Second; len(c.left(c.at, c.host)) > 0 && boot() < end; {
		time.Sleep(20 * time.Millisecond)
	}
}

// daemon starts one, that is hurt at the point given.
func (c *contest) daemon(point string) *process {
	env := append(work(plain, 50*time.Millisecond+c.upTo(250*time.Millisecond)), roleVar+"=worker")
	switch {
	case point == unhurt || point == anywhere:
	case c.freeze:
		env = append(env, pausedAt(point))
	default:
		env = append(env, "ONESLOT_FAILPOINT="+point)
	}
	after, cold := 300*time.Millisecond+c.upTo(2*time.Second), c.upTo(time.Second)
	p := c.host.start(job{[]string{"serve"}, append(env, c.host.env...)})
	switch {
	case point == anywhere && c.freeze:
		go func() {
			await(p, after)
			p.signal(syscall.SIGSTOP)
			c.frozen(p, cold)
		}()
	case point == anywhere:
		go func() {
			await(p, after)
			p.kill()
		}()
	case point != unhurt && c.freeze:
		go c.frozen(p, cold)
	}
	return p
}

// await waits for the end of a process, but not longer than for the time given.
func await(p *process, most time.Duration) {
	select {
	case <-p.done:
	case <-time.After(most):
	}
}

// died reports that a daemon was killed; that it ends by itself is a fault.
func (c *contest) died(p *process) bool {
	select {
	case <-p.done:
	default:
		return false
	}
	if code := c.host.code(p); code != -int(syscall.SIGKILL) || c.point == unhurt {
		c.fault("%s, the daemon: exit %d\n%s", c.host.name, code, p.err.String())
	}
	c.saw("killed " + c.point)
	return true
}

// wish has the host's queue take another wish.
func (c *contest) wish(n int) {
	c.host.want(0, job{[]string{"dispatch", c.ref.String(), "--rule", "work", "--key", fmt.Sprintf("%d-%d", c.n, n)}, c.host.env})
}

// state is the host's work item. It is idle when all wishes have their end: by work, or
// by the issue being closed.
func (c *contest) state() queue.Item {
	if c.closes && c.worked() {
		c.forge.Close(c.at, c.host.login)
	}
	items, err := c.host.db.Queue().Items(c.host.ctx, queue.Filter{Ref: c.ref})
	if err != nil || len(items) != 1 {
		c.fault("%s has %d items (%v)", c.host.name, len(items), err)
		return queue.Item{State: queue.Idle}
	}
	return items[0]
}
