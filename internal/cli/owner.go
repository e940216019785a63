package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

// socketTime bounds one question to a run's supervisor, which may ask the store.
const socketTime = 15 * time.Second

// owner acts for whoever has the key of one claim: through the supervisor of
// the run that this process is part of, or at the store.
type owner struct {
	key    claim.Key
	socket string // of the claim's own run; empty for none
	ref    string // of that run
	// open gives the store. It fails, with slot.ErrUnknown, where it is not
	// known which store the claim is in.
	open func() (*app.App, error)
	a    *app.App
}

// owner finds out how the claim's holder is reached.
func (c *cli) owner(cmd *cobra.Command, flags keyFlags) (*owner, error) {
	key, err := c.key(flags)
	if err != nil {
		return nil, c.usage(cmd, err)
	}
	o := &owner{key: key, open: func() (*app.App, error) { return c.openNeeding(cmd, config.Claims) }}
	if s := c.getenv("ONESLOT_SOCKET"); s != "" && key.Claim == c.getenv("ONESLOT_CLAIM") {
		o.socket, o.ref = s, c.getenv("ONESLOT_REF")
		o.open = func() (*app.App, error) { return c.runStore(cmd) }
	}
	return o, nil
}

// runStore opens the store that our own run is in. Its address was taken out of
// our environment, and another store would say "lost" of a claim that it never
// knew: so the configured one counts only if the run's folder lies beside it.
func (c *cli) runStore(cmd *cobra.Command) (*app.App, error) {
	cfg, err := c.loadFor(cmd, config.Claims)
	if err != nil {
		return nil, fmt.Errorf("%w: the run's store is not known here: %v", slot.ErrUnknown, err)
	}
	named := cmd.Flags().Lookup("store").Changed || c.getenv("ONESLOT_STORE") != ""
	if run := c.getenv("ONESLOT_RUN"); !named {
		if _, err := os.Stat(filepath.Join(cfg.StateDir(), "runs", filepath.Base(run))); run == "" || err != nil {
			return nil, fmt.Errorf("%w: the run's store is not known here; name it with --store", slot.ErrUnknown)
		}
	}
	return app.New(cfg)
}

// store opens the store once.
func (o *owner) store() (*app.App, error) {
	var err error
	if o.a == nil {
		o.a, err = o.open()
	}
	return o.a, err
}

// ask asks the run's supervisor if there is one, and the store if that gives no
// answer.
func (o *owner) ask(ctx context.Context, socket func(context.Context) error, store func(*app.App) error) error {
	var silent error
	if o.socket != "" {
		ctx, cancel := context.WithTimeout(ctx, socketTime)
		defer cancel()
		err := socket(ctx)
		if err == nil || errors.Is(err, slot.ErrLost) {
			return err
		}
		silent = err
	}
	a, err := o.store()
	if err != nil {
		return errors.Join(silent, err)
	}
	return store(a)
}

// standing is what is known of a claim that is ours.
type standing struct {
	ref   string
	fence int64
	left  time.Duration // to the deadline, from the moment before the question
}

// check asks whether the claim is ours.
func (o *owner) check(ctx context.Context) (s standing, err error) {
	err = o.ask(ctx, func(ctx context.Context) error {
		a, err := supervise.Check(ctx, o.socket, o.key)
		s = standing{a.Ref, a.Fence, time.Duration(a.Left) * time.Millisecond}
		return err
	}, func(a *app.App) error {
		c, err := a.Store.Check(ctx, o.key)
		s = standing{c.Ref.String(), c.Fence, c.Left}
		return err
	})
	return s, err
}

// renew moves the deadline.
func (o *owner) renew(ctx context.Context) (left time.Duration, err error) {
	err = o.ask(ctx, func(ctx context.Context) error {
		if _, err := supervise.Renew(ctx, o.socket, o.key); err != nil {
			return err
		}
		a, err := supervise.Check(ctx, o.socket, o.key)
		left = time.Duration(a.Left) * time.Millisecond
		return err
	}, func(a *app.App) error {
		lease, err := a.Store.Renew(ctx, o.key)
		left = lease.TTL
		if err == nil {
			_ = a.Tend(ctx) // what fails, the next one does
		}
		return err
	})
	return left, err
}

// release gives the claim back. That of a supervised run is given back by its
// supervisor alone, which knows when the run's processes are gone.
func (o *owner) release(ctx context.Context, out slot.Outcome) (ref string, err error) {
	err = o.ask(ctx, func(ctx context.Context) error {
		_, err := supervise.Release(ctx, o.socket, o.key, out.Result)
		ref = o.ref
		return err
	}, func(a *app.App) error {
		if err := o.releasable(ctx, a); err != nil {
			return err
		}
		step := a.Store.Release
		if out.Result == slot.Waits {
			step = a.Store.Park
		}
		c, err := step(ctx, o.key, out)
		ref = c.Ref.String()
		if err == nil {
			_ = a.Tend(ctx) // what fails, the next one does
		}
		return err
	})
	return ref, err
}

// releasable refuses to free a slot under a run that may still have processes.
func (o *owner) releasable(ctx context.Context, a *app.App) error {
	c, err := a.Store.Check(ctx, o.key)
	var lost *slot.LostError
	switch {
	case errors.As(err, &lost) && lost.Newest != nil && lost.Newest.ID == o.key.Claim && !lost.Newest.Ended:
		c = *lost.Newest // overdue, but still the newest
	case errors.Is(err, slot.ErrLost):
		return nil // let the store say what has become of it
	case err != nil:
		return err
	}
	switch {
	case c.Kind != slot.Supervised:
		return nil
	case o.socket != "":
		return fmt.Errorf("%w: the supervisor of %s does not answer, and only it can give the slot back; `oneslot stop %s` ends the run",
			slot.ErrUnknown, c.Ref, quote(c.Ref.String()))
	}
	return fmt.Errorf("%w: %s is supervised (pid %d): its slot is given back when the run ends, or from inside the run; `oneslot stop %s` ends it",
		slot.ErrNotAllowed, c.Ref, c.Holder.Process.PID, quote(c.Ref.String()))
}
