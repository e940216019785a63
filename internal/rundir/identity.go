package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Identity says which processes a run is made of. It is written before the fork
// (without the worker) and again after it.
type Identity struct {
	Ref        string        `json:"ref"` // canonical
	Claim      string        `json:"claim"`
	Fence      int64         `json:"fence"`
	UID        int           `json:"uid"`
	Boot       string        `json:"boot"`  // the boot it belongs to
	Grace      time.Duration `json:"grace"` // what its tree was promised, in ns
	Supervisor slot.Process  `json:"supervisor"`
	Warden     slot.Process  `json:"warden,omitzero"`
	Worker     slot.Process  `json:"worker,omitzero"`
	Group      int           `json:"pgid,omitempty"` // the worker's process group
}

const identityMax = 64 << 10

// WriteIdentity replaces the run's identity. It is not synced: it means nothing
// in another boot.
func (d Dir) WriteIdentity(id Identity) error { return d.writeJSON("identity.json", id) }

// Identity reads the run's identity.
func (d Dir) Identity() (Identity, error) {
	data, err := d.read("identity.json", identityMax)
	if err != nil {
		return Identity{}, err
	}
	return parseIdentity(data)
}

func parseIdentity(data []byte) (Identity, error) {
	var id Identity
	if err := json.Unmarshal(data, &id); err != nil {
		return Identity{}, fmt.Errorf("identity.json: %w", err)
	}
	// Whoever reads this sends signals: no number may stand for "all".
	for _, p := range []slot.Process{id.Supervisor, id.Warden, id.Worker} {
		if p.PID < 0 || (p.PID > 0 && (p.Ticks == 0 || p.Boot != id.Boot)) {
			return Identity{}, errors.New("identity.json: a process is not fully named")
		}
	}
	if id.Boot == "" || id.Supervisor.IsZero() || id.UID < 0 || id.Group < 0 || id.Group == 1 || id.Grace < 0 {
		return Identity{}, errors.New("identity.json: a value is missing or out of range")
	}
	return id, nil
}
