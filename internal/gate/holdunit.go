package gate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// HoldUnitVerb is the hidden verb that a hold unit runs.
const HoldUnitVerb = "hold-unit"

// registryEvery is how often the registry is looked at, once the supervisor is gone
// without having taken its run out of it.
const registryEvery = 100 * time.Millisecond

// holdUnitArgs are the arguments that make the program hold for a run, the verb
// among them. They hold nothing but ids, numbers and the state folder.
func holdUnitArgs(run Run) []string {
	p := run.Supervisor
	return []string{HoldUnitVerb, "--run", run.ID, "--slug", run.Slug, "--state", run.State,
		"--supervisor", fmt.Sprintf("%s:%d:%d:%d", p.Boot, p.NS, p.PID, p.Ticks)}
}

// ParseHoldUnit reads what holdUnitArgs wrote, without the verb. Errors match
// slot.ErrUsage.
func ParseHoldUnit(args []string) (Run, error) {
	var run Run
	var supervisor string
	into := map[string]*string{"--run": &run.ID, "--slug": &run.Slug, "--state": &run.State, "--supervisor": &supervisor}
	for pair := range slices.Chunk(args, 2) {
		to := into[pair[0]]
		if to == nil || len(pair) != 2 || pair[1] == "" {
			return Run{}, fmt.Errorf("%w: %s: unknown, or without a value", slot.ErrUsage, pair[0])
		}
		*to = pair[1]
	}
	part := strings.Split(supervisor, ":")
	if run.ID == "" || run.Slug == "" || run.State == "" || len(part) != 4 {
		return Run{}, fmt.Errorf("%w: needs --run, --slug, --state and --supervisor BOOT:NS:PID:TICKS", slot.ErrUsage)
	}
	ns, err1 := strconv.ParseUint(part[1], 10, 64)
	pid, err2 := strconv.ParseUint(part[2], 10, 31)
	ticks, err3 := strconv.ParseUint(part[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || pid == 0 || part[0] == "" {
		return Run{}, fmt.Errorf("%w: --supervisor %q is not BOOT:NS:PID:TICKS", slot.ErrUsage, supervisor)
	}
	run.Supervisor = slot.Process{Boot: part[0], NS: ns, PID: int(pid), Ticks: ticks}
	return run, nil
}

// HoldUnit is what a hold unit does: it waits until the run's supervisor is gone and
// the registry does not name the run any more, that is, its tree is gone too. It
// tells the manager when the hold has begun.
//
// A registry that cannot be read keeps the hold: not to know is not to be free.
func HoldUnit(ctx context.Context, run Run) error {
	gone, cancel, err := proc.Watch(run.Supervisor)
	if err != nil {
		return fmt.Errorf("the run's supervisor: %w", err)
	}
	defer cancel()
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		return fmt.Errorf("telling the manager: %w", err)
	}
	select {
	case <-gone:
	case <-ctx.Done():
		return ctx.Err()
	}
	home := rundir.In(run.State)
	for {
		open, err := home.Open(run.Slug)
		if err == nil && !slices.Contains(open, run.ID) {
			return nil
		}
		select {
		case <-time.After(registryEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
