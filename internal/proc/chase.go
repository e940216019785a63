package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// chase is one Stop under way.
type chase struct {
	tree   Tree
	view   view
	how    Stop
	prey   map[key]*prey // everybody who was seen and is not known to be gone
	dead   map[key]bool  // zombies, of whomever
	report Report
	// trouble is what went wrong on the way; it counts if somebody is left.
	trouble error
}

// key names a process within one view.
type key struct {
	pid   int
	ticks uint64
}

// prey is one process to be ended.
type prey struct {
	st     stat // as it was at the last look
	h      *handle
	gone   <-chan struct{}
	cancel func()
	denied bool // it is somebody else's
	sent   map[syscall.Signal]bool
}

func (p *prey) over() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// look drops who is gone, takes hold of who is new, and says how many are. If
// nobody is left, it has made sure of that. Marks that cannot be judged are an
// error only then: what can be ended is ended first.
func (c *chase) look() (fresh int, err error) {
	until := time.Now().Add(veilMax)
	for try := 1; ; try++ {
		known := make([]stat, 0, len(c.prey))
		for k, p := range c.prey {
			if p.over() {
				c.drop(k)
				continue
			}
			known = append(known, p.st)
		}
		found, saw, unjudged := c.tree.look(c.view, known, c.dead)
		seen := make(map[key]bool, len(found))
		for _, st := range found {
			k := key{st.pid, st.ticks}
			seen[k] = true
			if p := c.prey[k]; p != nil {
				p.st = st
				continue
			}
			h, err := c.view.hold(st)
			if errors.Is(err, os.ErrProcessDone) {
				saw = max(saw, hazy) // it may have left somebody behind
				continue
			}
			if err != nil {
				unjudged = errors.Join(unjudged, err)
				continue
			}
			p := &prey{st: st, h: h, sent: make(map[syscall.Signal]bool)}
			p.gone, p.cancel = h.watch()
			c.prey[k] = p
			fresh++
		}
		for k := range c.prey {
			if unjudged == nil && !seen[k] {
				c.drop(k) // a zombie by now
			}
		}
		switch {
		case len(c.prey) > 0:
			return fresh, nil
		case unjudged != nil, saw == sharp, saw == hazy && try >= hazyLooks:
			return fresh, unjudged
		case time.Now().After(until):
			return fresh, fmt.Errorf("%w: a process has been in the middle of an exec for %v", slot.ErrUnknown, veilMax)
		}
		time.Sleep(hazyPause)
	}
}

func (c *chase) drop(k key) {
	c.prey[k].cancel()
	delete(c.prey, k)
}

func (c *chase) letGo() {
	for k := range c.prey {
		c.drop(k)
	}
}

// send signals everybody who has not had sig yet, and counts them.
func (c *chase) send(sig syscall.Signal) (count int) {
	for _, p := range c.prey {
		if p.denied || p.sent[sig] {
			continue
		}
		err := p.h.signal(sig)
		if err == nil && sig == syscall.SIGTERM && p.st.stopped() {
			err = p.h.signal(syscall.SIGCONT)
		}
		switch {
		case err == nil:
			p.sent[sig] = true
			count++
		case errors.Is(err, os.ErrPermission):
			p.denied = true
		case errors.Is(err, os.ErrProcessDone), errors.Is(err, os.ErrClosed):
			// The next look misses it.
		default:
			c.trouble = err
		}
	}
	return count
}

// allDenied reports that only other people's processes are left.
func (c *chase) allDenied() bool {
	for _, p := range c.prey {
		if !p.denied {
			return false
		}
	}
	return true
}

// still reports whether everybody who can be stopped was, at the last look.
func (c *chase) still() bool {
	for _, p := range c.prey {
		if !p.denied && !p.st.stopped() {
			return false
		}
	}
	return true
}

// rest waits until everybody known is gone, or the time has come. It fails only
// with the context.
func (c *chase) rest(ctx context.Context, until time.Time) error {
	alarm := time.NewTimer(time.Until(until))
	defer alarm.Stop()
	for _, p := range c.prey {
		select {
		case <-p.gone:
		case <-alarm.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}
