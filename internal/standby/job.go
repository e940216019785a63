package standby

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

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

// settled is how long after its first word a supervisor that was started for a job
// waits for it at most, as a rule.
const settled = 30 * time.Millisecond

// Quiet waits for a moment and reports whether no job has come by then: there is
// time for something else.
func Quiet(in *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(settled.Milliseconds()))
	return err == nil && n == 0
}

// Rehearse gives a job that is none, as it would be received: the first reading of
// one costs ten times as much as the next.
func Rehearse() (Job, error) {
	ref, err := slot.ParseCanonical("key:rehearsal")
	if err != nil {
		return Job{}, err
	}
	c := slot.Claim{Ref: ref, Run: "none"}
	data, err := json.Marshal(Job{Claim: c, Key: claim.NewKey(ref), Previous: &c, Argv: []string{"/"}, Strip: []string{}})
	if err != nil {
		return Job{}, err
	}
	return Receive(bytes.NewReader(data))
}
