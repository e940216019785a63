package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/rundir"
)

// tidyEvery is how often the processes that share a state folder tidy it, all
// together.
const tidyEvery = time.Hour

// Tidy drops what is older than is to be kept: decisions, closed runs, and their
// folders. Whoever comes first after an hour does it.
func (a *App) Tidy(ctx context.Context, keep config.Retention) error {
	stamp := filepath.Join(a.Store.Dir(), "tidied")
	now := a.Clock.Wall()
	if fi, err := os.Stat(stamp); err == nil && now.Sub(fi.ModTime()).Abs() < tidyEvery {
		return nil
	}
	if err := os.WriteFile(stamp, nil, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(stamp, now, now); err != nil {
		return err
	}
	var err error
	if a.Server == nil { // a daemon drops its own
		_, err = a.Store.Prune(ctx, now.Add(-keep.Decisions.V))
	}
	_, e := rundir.In(a.Store.Dir()).Tidy(now.Add(-keep.Logs.V), keep.LogsBytes.V)
	return errors.Join(err, e)
}
