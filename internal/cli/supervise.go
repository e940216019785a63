package cli

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
)

// superviseVerbName is the hidden verb of the daemon's supervisors. It is not for
// people.
const superviseVerbName = "supervise-internal"

func (c *cli) superviseVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:    superviseVerbName,
		Short:  "A supervisor that waits for its job; started by oneslot itself",
		Hidden: true,
		Args:   c.exactly(0, "no arguments"),
		RunE:   func(cmd *cobra.Command, _ []string) error { return c.superviseJob(cmd) },
	}
	cmd.Flags().String("waiting-max", "", "the setting that whoever works the queue goes by")
	return cmd
}

// supervisorArgv starts a supervisor with the configuration of this command. Its
// store, and what that was opened with, are this command's, whatever the file says
// by then.
func (c *cli) supervisorArgv(a *app.App) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: this program's own path: %w", slot.ErrUnknown, err)
	}
	argv := []string{self, superviseVerbName, "--store", a.Store.Address(), "--waiting-max", slot.Span(a.Config.WaitingMax.V)}
	if c.config != "" {
		argv = append(argv, "--config", c.config)
	}
	return argv, nil
}

// openAnyway opens the store for a supervisor. Its file may be broken by now, and
// the daemon goes by the last good one: what a run needs of that comes with the
// job, and all else is as by default, but that nothing old is dropped. broken says so.
func (c *cli) openAnyway(cmd *cobra.Command) (a *app.App, broken error, err error) {
	a, err = c.openNeeding(cmd, config.Whole)
	if !errors.Is(err, slot.ErrConfig) {
		return a, nil, err
	}
	src := c.sources(cmd)
	src.ConfigFlag = os.DevNull
	cfg, e := config.Load(src)
	if e != nil {
		return nil, nil, err
	}
	cfg.Retention.Decisions.V = math.MaxInt64
	broken = err
	a, err = app.New(cfg)
	return a, broken, err
}

// superviseJob prepares what can be prepared, waits for the job, and does it.
func (c *cli) superviseJob(cmd *cobra.Command) error {
	a, broken, err := c.openAnyway(cmd)
	standby.Tell(err)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	a.Warm(ctx, func() bool { return standby.Quiet(c.In) })
	job, err := standby.Receive(c.In)
	if errors.Is(err, standby.ErrNoJob) {
		return nil
	}
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("%w: this program's own path: %w", slot.ErrUnknown, err)
	}
	rep, err := a.Supervise(ctx, job, []string{self, wardenVerbName})
	if err != nil && !rep.Ran {
		return err
	}
	if broken != nil {
		return broken // without a daemon nobody knows the rules, nor what is old
	}
	a.Tidy(ctx, a.Config.Retention) //nolint:errcheck // the run is over; doctor tells what is kept for too long
	return c.followUp(cmd, a, job)
}

// followUp works the queue for the ref of a run that has ended, if no daemon does.
func (c *cli) followUp(cmd *cobra.Command, a *app.App, job standby.Job) error {
	supervisor, err := c.supervisorArgv(a)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	err = a.FollowUp(ctx, supervisor, job.Claim.Ref)
	if code := stop(); code != nil {
		return code
	}
	return err
}

// holdUnitVerb is what a unit runs that stands for a run; see gate.HoldUnit.
func (c *cli) holdUnitVerb() *cobra.Command {
	return &cobra.Command{
		Use:                gate.HoldUnitVerb,
		Short:              "What a unit runs that stands for a run; started by oneslot itself",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := gate.ParseHoldUnit(args)
			if err != nil {
				return err
			}
			return gate.HoldUnit(cmd.Context(), run)
		},
	}
}
