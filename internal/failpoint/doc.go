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

	// In the dispatcher.
	AfterAccept    = "after-accept"    // the request is read, nothing is on disk
	AfterCommit    = "after-commit"    // all is on disk, nothing is answered
	AfterBegin     = "after-begin"     // the work item is given to the run
	BeforeHandover = "before-handover" // the supervisor has no job yet
	AfterHandover  = "after-handover"
	BeforeSettle   = "before-settle" // a dead run is about to be settled by the sweep

	// Of a reservation on the forge.
	AfterReserveNote = "after-reserve-note" // the record is on disk, nothing was sent
	AfterReservePost = "after-reserve-post" // the comment may be there, its id is not on disk
	AfterReserveEdit = "after-reserve-edit" // running is shown, nobody was told
	AfterReserveLock = "after-reserve-lock" // the conversation is locked
)
