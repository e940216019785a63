// Package failpoint names the moments at which a process may be killed, so that
// tests can kill it exactly there. In a release build nothing of it is left: the
// functions are empty and inlined away.
//
// Built with the tag oneslot_hooks it obeys the environment; see hooks.go.
package failpoint

// The moments. Each is the instant just after (or before) the step it names.
const (
	AfterClaimCommit = "after-claim-commit"
	AfterWaiterRow   = "after-waiter-row"
	AfterToken       = "after-token"
	BetweenSignals   = "between-signals"
	AfterTreeGone    = "after-tree-gone"
	BeforeFork       = "before-fork"
	AfterFork        = "after-fork"
	BeforeIdentity   = "before-identity"
	AfterExit        = "after-exit"
	AfterOutcome     = "after-outcome"
	BeforeRelease    = "before-release"
	AfterRelease     = "after-release"
)
