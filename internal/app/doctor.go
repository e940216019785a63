package app

import (
	"os"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/doctor"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// SchemaLevel is the level of the store's schema that this program reads and
// writes.
func SchemaLevel() int { return sqlite.Level() }

// Examined is this process's world for doctor: as much of it as can be had. err
// is why there is no configuration.
func Examined(cfg *config.Config, err error) *doctor.Subject {
	s := &doctor.Subject{
		Config: cfg, ConfigErr: err, Sight: Sight{}, Machine: doctor.System(), Level: sqlite.Level(),
		Env: os.LookupEnv, TempDir: os.TempDir(), UID: os.Getuid(), Limits: doctor.DefaultLimits(),
	}
	clk, err := clock.System()
	if err != nil {
		s.ClockErr = err
		return s // the store cannot be read without
	}
	s.Clock = failpoint.Clock(clk)
	if cfg == nil {
		return s
	}
	store, err := sqlite.Open(cfg.StorePath(), sqlite.Options{
		Clock: s.Clock, WaitingMax: cfg.WaitingMax.V, Retention: cfg.Retention.Decisions.V,
	})
	if err != nil {
		s.StoreErr = err
		return s
	}
	s.Store = store
	return s
}
