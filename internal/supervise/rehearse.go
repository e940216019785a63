package supervise

import (
	"context"
	"errors"
	"os"

	"github.com/oneslot/oneslot/internal/rundir"
)

// Rehearse takes a run's steps up to its fork, in a folder that it makes and
// removes: code and memory that the first run of a process touches anew cost more
// than its work. It tells nobody, and asks only s.Tell.
func Rehearse(ctx context.Context, s Spec) (err error) {
	if s.State, err = os.MkdirTemp("", "oneslot-rehearsal-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.State)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.Argv = []string{self}
	r := &run{Spec: s, ctx: ctx, home: rundir.In(s.State), parent: newParent()}
	defer r.parent.close()
	defer r.close()
	if err := r.open(); err != nil {
		return err
	}
	r.first()
	if err := r.prepare(); err != nil {
		return err
	}
	r.environ(r.lis.Addr().String())
	return nil
}
