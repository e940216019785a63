package supervise

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Spec is a run to look after: a claim that was granted, and what to do with it.
type Spec struct {
	Store   claim.Store
	Address string // the store's, for people; without secrets
	Journal claim.Journal
	Clock   clock.Clock
	Log     *slog.Logger // for the operator; secrets never go there
	Self    slot.Process // this process, as proc.Self names it
	State   string       // the folder for runs and registry; absolute

	// Claim is the granted claim. Its Run, Dir, Grace, Warden and Left count.
	Claim    slot.Claim
	Key      claim.Key
	Previous *slot.Claim // the claim that was displaced for it, if any

	Argv []string // the command; never seen by a shell
	Env  []string // the caller's environment
	// Strip names variables that the worker must not get: addresses of stores,
	// tokens, whatever is the coordinator's.
	Strip []string
	Dir   string // the working folder

	// The worker's three descriptors; none may be nil.
	Stdin, Stdout, Stderr *os.File

	Timeout  time.Duration // the longest the worker may take; 0 no limit
	Leave    bool          // children that outlive the worker are kept
	LogBytes int64         // how much of the output the log keeps; 0 all

	Chain   []string // ids of the runs around this one, outermost first
	Attempt int      // 1 for a first try
	Rule    string
	// Tell makes what the worker is told, a JSON list, and may put files beside it
	// with keep, which returns their names; nil for an empty list.
	Tell func(ctx context.Context, keep func(name string, data []byte) (string, error)) ([]byte, error)

	// WardenArgv starts a warden: this program with the hidden verb. It is used
	// if Claim.Warden is set.
	WardenArgv []string
}

// Report is how a run went, for --report and --json.
type Report struct {
	Ran     bool        `json:"ran"` // a worker was started
	Ref     slot.Ref    `json:"ref"`
	Run     string      `json:"run"`
	Claim   string      `json:"claim"`
	Fence   int64       `json:"fence"`
	Exit    *int        `json:"exit"`   // the worker's exit code, if it had one
	Signal  *string     `json:"signal"` // that ended it, if one did
	Outcome slot.Result `json:"outcome"`
	Reason  *string     `json:"reason"`
	Log     *string     `json:"log"`
	// LeftBehind and Kept count processes that outlived the worker.
	LeftBehind int `json:"left_behind"`
	Kept       int `json:"kept"`
	// Pending: the run is over, but its release could not be written.
	Pending bool `json:"release_pending"`

	// Code is what oneslot exits with: the command's own code if it ran to its
	// end, else one of ours (sysexits(3) where it has one): 74 if all went well
	// but our output could not be written.
	Code int `json:"-"`
}
