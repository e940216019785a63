package supervise

import (
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// host is whom the worker hangs under: us, or a warden.
type host interface {
	// fork starts the worker. It is zero if it ended before it could be named.
	fork(j job) (slot.Process, error)
	// extend passes a granted deadline on, and calls count when it counts.
	extend(sent, ttl time.Duration, count func())
	// under are those whose descendants the tree is; except those among them
	// who belong to oneslot.
	under() []slot.Process
	except() []slot.Process
	// collect is called when the tree is gone and the worker's end was not told.
	collect()
	// leave lets the children live on when we go.
	leave()
	close()
}

func (r *run) newHost() (host, error) {
	if r.Claim.Warden {
		return r.newWarden()
	}
	return &ourselves{r}, nil
}

// ourselves hosts the worker in this very process.
type ourselves struct{ r *run }

func (o *ourselves) fork(j job) (slot.Process, error) {
	failpoint.Hit(failpoint.BeforeFork)
	if err := o.r.dir.Forking(); err != nil {
		return slot.Process{}, fmt.Errorf("%w: the run's folder: %w", slot.ErrUnknown, err)
	}
	pid, ended, err := o.r.parent.start(j)
	if err != nil {
		return slot.Process{}, err
	}
	failpoint.Hit(failpoint.AfterFork)
	worker, _ := proc.Identify(pid) // it may have ended already
	go func() {
		ws := <-ended
		o.r.tell(func() { o.r.workerEnded(&ws) })
	}()
	return worker, nil
}

func (o *ourselves) extend(_, _ time.Duration, count func()) { count() }

func (o *ourselves) under() []slot.Process  { return []slot.Process{o.r.Self} }
func (o *ourselves) except() []slot.Process { return nil }
func (o *ourselves) collect()               {}
func (o *ourselves) leave()                 {}
func (o *ourselves) close()                 {}
