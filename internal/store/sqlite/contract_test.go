package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
)

// The contract of claim.Store and claim.Journal, on a real file, with several
// handles that know nothing of each other, and time moved by hand.
func TestContract(t *testing.T) { claimtest.Run(t, fileHarness) }

func TestContractInterleaved(t *testing.T) { claimtest.Interleave(t, fileHarness) }

func fileHarness(t testing.TB, opt claimtest.Options) claimtest.Harness {
	path := filepath.Join(t.TempDir(), "state", "oneslot.db")
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	return claimtest.Harness{
		Clock: clk,
		Open: func() (claimtest.Store, error) {
			return Open(path, Options{Clock: clk, WaitingMax: opt.WaitingMax})
		},
	}
}
