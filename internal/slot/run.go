package slot

import "time"

// Result says how a run, or a claim without one, came to its end.
type Result string

const (
	Done    Result = "done"    // exit 0, or released without another word
	Failed  Result = "failed"  // non-zero exit, signal, or the worker said so
	Later   Result = "later"   // the worker asked for another time
	Waits   Result = "waiting" // the worker needs a person
	Stopped Result = "stopped" // a person stopped it
	TimedUp Result = "timeout" // its --timeout passed
	Lost    Result = "lost"    // the claim went to somebody else
	Vanish  Result = "unknown" // its supervisor died and left no outcome
	NoStart Result = "nostart" // the command could not be started
)

// Outcome is what a run leaves behind. It is written to the run's folder before
// anything is settled.
type Outcome struct {
	Result  Result  `json:"result"`
	Exit    *int    `json:"exit"`             // nil if there was no exit code
	Signal  string  `json:"signal,omitempty"` // SIGKILL, ...
	Reason  string  `json:"reason,omitempty"` // one line for people
	Summary string  `json:"summary,omitempty"`
	PR      string  `json:"pr,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`
	Tokens  int64   `json:"tokens,omitempty"`
	// RetryAfter is the wait that the worker asked for; zero if it named none.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	// Unspent: nothing was tried, because somebody or something else was in the
	// way, so that no attempt is spent.
	Unspent bool `json:"unspent,omitempty"`
	// LeftBehind counts processes that had to be ended after the worker's own
	// end; Kept counts those that --leave kept.
	LeftBehind int `json:"left_behind,omitempty"`
	Kept       int `json:"kept,omitempty"`
}

// RunState says where a run is.
type RunState string

const (
	RunStarting RunState = "starting"
	RunRunning  RunState = "running"
	RunEnded    RunState = "ended"
)

// Run is one execution of a worker under a claim.
type Run struct {
	ID      string
	Ref     Ref
	Rule    string
	Path    string
	Claim   string
	Fence   int64
	State   RunState
	Outcome Outcome // once State is RunEnded
	Holder  Holder
	Dir     string

	StartedAt time.Time // zero until the step to Running
	EndedAt   time.Time
	// TreeGoneAt is when it was proved that no process of the run is left.
	TreeGoneAt time.Time
}

// Who names for people who looked after the run.
func (r Run) Who() string { return r.Holder.text(ofSupervisor) }
