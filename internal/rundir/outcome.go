package rundir

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/slot"
)

const outcomeMax = 2 << 20

// WriteOutcome notes the run's end. From then on an end of this process does not lose it.
func (d Dir) WriteOutcome(out slot.Outcome) error { return d.writeJSON("outcome.json", out) }

// SyncOutcome puts the run's end on disk. When it returns, a crash of the machine does
// not lose it.
func (d Dir) SyncOutcome() error {
	f, err := os.OpenFile(filepath.Join(d.path, "outcome.json"), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Outcome reads the run's end. The error matches fs.ErrNotExist if the run left
// none.
func (d Dir) Outcome() (slot.Outcome, error) {
	data, err := d.read("outcome.json", outcomeMax)
	if err != nil {
		return slot.Outcome{}, err
	}
	return parseOutcome(data)
}

func parseOutcome(data []byte) (slot.Outcome, error) {
	var out slot.Outcome
	if err := json.Unmarshal(data, &out); err != nil {
		return slot.Outcome{}, fmt.Errorf("outcome.json: %w", err)
	}
	switch out.Result {
	case slot.Done, slot.Failed, slot.Later, slot.Waits, slot.Stopped, slot.TimedUp, slot.Lost, slot.Vanish, slot.NoStart:
	default:
		return slot.Outcome{}, fmt.Errorf("outcome.json: no such result: %.20q", out.Result)
	}
	if out.RetryAfter < 0 || out.CostUSD < 0 || math.IsInf(out.CostUSD, 0) || out.Tokens < 0 || out.LeftBehind < 0 || out.Kept < 0 {
		return slot.Outcome{}, fmt.Errorf("outcome.json: a number is out of range")
	}
	return out, nil
}
