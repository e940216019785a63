package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Points at which Stop.Hook is called.
const (
	PointFound  = "stop.found"  // the tree was looked at, nothing is signalled yet
	PointTermed = "stop.termed" // TERM was sent
	PointFrozen = "stop.frozen" // everybody is stopped, KILL not yet sent
	PointKilled = "stop.killed" // KILL was sent
)

const (
	// defaultSettle bounds the wait for KILL to take effect.
	defaultSettle = 5 * time.Second

	// While a tree is being ended it is looked at anew after these pauses: the
	// short one while members appear, growing to the long one.
	minPause = 20 * time.Millisecond
	maxPause = 500 * time.Millisecond

	// A tree is frozen before it is killed, so that nobody is born meanwhile
	// whose parent is dead when we look. Who cannot be frozen (by another
	// freezer, or in the middle of a disk that hangs) is waited for no longer
	// than this; others take as long as they need to be scheduled.
	freezeMax = 2 * time.Second
	freezeTry = 2 * time.Millisecond

	// Somebody else's process often ends by itself after all of ours did (sudo
	// after its child); it is given this time.
	afterglow = 500 * time.Millisecond

	// hazyLooks bounds how often a look that found nobody, but was not sharp,
	// is repeated.
	hazyLooks = 3
	hazyPause = 2 * time.Millisecond

	// veilMax is how long an exec may take before it is not waited for.
	veilMax = 5 * time.Second
)

// Stop says how a tree is ended.
type Stop struct {
	// Grace is the time between TERM and KILL; 0 or less kills at once.
	Grace time.Duration
	// Settle bounds the wait after KILL; 0 means defaultSettle.
	Settle time.Duration
	// Hook, if set, is called at each Point, for tests that break off there.
	Hook func(point string)
}

// Report says what ending a tree took.
type Report struct {
	Termed int      // processes that were sent TERM
	Killed int      // processes that were sent KILL
	Left   []Member // who is still there
}

// RemainError says that processes of a tree outlived KILL. It matches
// slot.ErrUnknown: nobody can say when they end.
type RemainError struct{ Left []Member }

func (e *RemainError) Error() string {
	m := e.Left[0]
	return fmt.Sprintf("%d processes did not end after SIGKILL, among them %d (%s)", len(e.Left), m.PID, m.Command)
}

// Is reports a match with slot.ErrUnknown.
func (e *RemainError) Is(target error) bool { return target == slot.ErrUnknown }

// Stop ends the tree: TERM to all (and CONT to the stopped), KILL to those who
// are left after the grace time. Who appears meanwhile is ended too, and who
// was seen once stays a member. It returns nil only if a last look found nobody.
//
// The error is a *NotPermittedError if somebody else's process is left, after
// all others were ended; a *RemainError; the context's; or slot.ErrUnknown if
// the tree cannot be seen. Report.Left is filled with all but the last.
func (t Tree) Stop(ctx context.Context, how Stop) (Report, error) {
	v, err := newView()
	if err != nil {
		return Report{}, fmt.Errorf("%w: %w", slot.ErrUnknown, err)
	}
	if how.Settle <= 0 {
		how.Settle = defaultSettle
	}
	if how.Hook == nil {
		how.Hook = func(string) {}
	}
	c := &chase{tree: t, view: v, how: how, prey: make(map[key]*prey), dead: make(map[key]bool)}
	defer c.letGo()

	gone := false
	if how.Grace > 0 {
		gone, err = c.term(ctx)
	}
	if err == nil && !gone {
		gone, err = c.kill(ctx)
	}
	if gone {
		return c.report, err
	}
	return c.report, c.fail(err)
}

// term asks everybody to end, until the grace time is over.
func (c *chase) term(ctx context.Context) (gone bool, err error) {
	until := time.Now().Add(c.how.Grace)
	point, pause := c.once(PointFound, PointTermed), minPause
	for time.Until(until) > 0 {
		fresh, err := c.look()
		if err != nil || len(c.prey) == 0 {
			return err == nil, err
		}
		point(PointFound)
		c.report.Termed += c.send(syscall.SIGTERM)
		point(PointTermed)
		if c.allDenied() {
			return false, nil
		}
		pause = min(2*pause, maxPause)
		if fresh > 0 {
			pause = minPause
		}
		if err := c.rest(ctx, earlier(until, time.Now().Add(pause))); err != nil {
			return false, err
		}
	}
	return false, nil
}

// kill ends everybody, and waits until they are gone.
func (c *chase) kill(ctx context.Context) (gone bool, err error) {
	until := time.Now().Add(c.how.Settle)
	point, pause := c.once(PointFrozen, PointKilled), minPause
	for {
		if err := c.freeze(ctx, earlier(until, time.Now().Add(freezeMax))); err != nil || len(c.prey) == 0 {
			return err == nil, err
		}
		point(PointFrozen)
		c.report.Killed += c.send(syscall.SIGKILL)
		point(PointKilled)
		if c.allDenied() {
			if c.report.Termed+c.report.Killed == 0 {
				return false, nil
			}
			until = earlier(until, time.Now().Add(afterglow))
		}
		if time.Until(until) <= 0 {
			return false, nil
		}
		if err := c.rest(ctx, earlier(until, time.Now().Add(pause))); err != nil {
			return false, err
		}
		pause = min(2*pause, maxPause)
	}
}

// freeze stops everybody, and looks again until nobody is new and all have
// stood still since the look before.
func (c *chase) freeze(ctx context.Context, until time.Time) error {
	for still := false; ; {
		fresh, err := c.look()
		if err != nil {
			return err
		}
		if fresh == 0 && still || len(c.prey) == 0 {
			return nil
		}
		c.send(syscall.SIGSTOP)
		still = c.still()
		if time.Until(until) <= 0 {
			return nil
		}
		if !still {
			// Not even a cancelled caller leaves a tree frozen but alive.
			_ = c.rest(context.WithoutCancel(ctx), time.Now().Add(freezeTry))
		}
	}
}

// fail says why the tree is not gone, and who is left of it.
func (c *chase) fail(err error) error {
	var denied *NotPermittedError
	var stuck []Member
	for _, p := range c.prey {
		if p.over() {
			continue
		}
		m := c.view.member(p.st)
		c.report.Left = append(c.report.Left, m)
		if !p.denied {
			stuck = append(stuck, m)
		} else if denied == nil || m.PID < denied.PID {
			denied = notPermitted(Sighting{PID: m.PID, UID: m.UID, Command: m.Command})
		}
	}
	slices.SortFunc(c.report.Left, func(a, b Member) int { return cmp.Compare(a.PID, b.PID) })
	switch {
	case err != nil:
		return err
	case denied != nil && len(stuck) > 0:
		return errors.Join(denied, &RemainError{stuck}, c.trouble)
	case denied != nil:
		return denied
	case len(stuck) > 0:
		return errors.Join(&RemainError{stuck}, c.trouble)
	}
	return fmt.Errorf("%w: the last processes of the tree ended too late to look for others", slot.ErrUnknown)
}

// once calls the hook for each of the points the first time only.
func (c *chase) once(points ...string) func(string) {
	return func(point string) {
		if i := slices.Index(points, point); i >= 0 {
			points = slices.Delete(points, i, i+1)
			c.how.Hook(point)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
