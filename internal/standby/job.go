package standby

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Job is what a supervisor needs to know of the run it looks after.
type Job struct {
	Claim    slot.Claim
	Key      claim.Key
	Previous *slot.Claim // displaced for it, if any

	Argv    []string
	Dir     string   // the working folder; empty is the supervisor's own
	Strip   []string // names of variables that the worker must not get
	Rule    string
	Attempt int
	Timeout time.Duration // 0 no limit
	// LogBytes bounds the run's log; 0 is as the supervisor's own configuration says.
	LogBytes int64
}

// jobMax bounds a job: argument lists have a bound of their own.
const jobMax = 8 << 20

// ErrNoJob says that the dispatcher went away, or had no use for us.
var ErrNoJob = errors.New("no job came")

// Receive waits for the job on r.
func Receive(r io.Reader) (Job, error) {
	var j Job
	data, err := io.ReadAll(io.LimitReader(r, jobMax+1))
	switch {
	case err != nil:
		return j, err
	case len(data) == 0:
		return j, ErrNoJob
	case len(data) > jobMax:
		return j, fmt.Errorf("the job is larger than %d bytes", jobMax)
	}
	// One that was cut off is no job: nothing has been started for it.
	if err := json.Unmarshal(data, &j); err != nil {
		return j, fmt.Errorf("%w: %w", ErrNoJob, err)
	}
	return j, nil
}
