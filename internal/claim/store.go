package claim

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Key is what makes a caller the owner of one claim. The token is chosen by the
// caller (NewKey), so that a request whose answer was lost can be sent again.
type Key struct {
	Claim string
	Token string
}

// Why says on what ground a live claim is set aside.
type Why string

const (
	// Dead: the holder's process was proved to be gone. Neither this nor Overdue
	// ever sets a waiting claim aside: nobody works under it.
	Dead Why = "dead"
	// Overdue: the deadline passed, and the caller can see that no warden-less
	// holder would be missed. The store checks the deadline again.
	Overdue Why = "expired"
	// Forced: a person said so. The store checks nothing but the id.
	Forced Why = "forced"
	// Ended: a person ends it, and nothing is worked under the claim that takes its
	// place for that: a bound one (see Request.Ends). It alone passes a hold.
	Ended Why = "ended"
	// Resumed: a waiting claim goes back to work, with a new fence and token. It
	// passes the line; Dead and Overdue do not.
	Resumed Why = "resumed"
)

// Displace names the one claim that Acquire may set aside. If another claim is
// the slot's newest by then, Acquire answers busy as if it had not been given.
type Displace struct {
	Claim  string
	Why    Why
	Detail string // the evidence or the person's reason, for the decision
}

// Ticket is a place in line. A caller that gives one waits if it cannot have the
// slot at once; the same ticket keeps its place over any number of calls.
type Ticket struct {
	ID      string
	Process slot.Process // of the one who waits
}

// Request asks for a slot.
type Request struct {
	Ref    slot.Ref
	Key    Key
	Kind   slot.Kind
	Holder slot.Holder
	Rule   string
	Queued bool   // a work item asks; it is kept for a later look if it is refused
	Run    string // supervised: the run that is committed with the claim
	Dir    string // its folder
	Warden bool
	Bound  bool
	TTL    time.Duration
	Grace  time.Duration

	// Also lists refs whose slots are claimed, too: all or none, in the same step. Its
	// own ref and repetitions are left out (see Covers). They are held for as long as
	// this claim lives; whoever asks for one of them meets this claim, with its id and
	// ref, and what is done to that is done to all.
	Also []slot.Ref

	Displace *Displace
	// Others are further claims that may be set aside: more than one may be in the
	// way of a claim that covers refs.
	Others []Displace
	Ticket *Ticket
	// Limits are counted in the same step as the claim is given, by the stores
	// that keep runs and claims together.
	Limits Limits
	// Head lets a person's forced claim pass the line.
	Head bool
}

// Limits bound what may be claimed; zero fields bound nothing. What is over one is
// refused with a *slot.DeferError (slot.ReasonCapacity, slot.ReasonBreaker).
type Limits struct {
	Running int // live claims that do not wait for a person, of all refs
	PerRepo int // those of the ref's repository
	// PerRef bounds the runs of the ref that were started within Window: the
	// breaker. What was given back without a start cost nothing.
	PerRef int
	Window time.Duration
}

// Grant is a claim that was given.
type Grant struct {
	Claim slot.Claim
	// Displaced is the live claim that was set aside for this one, if any: of its own
	// slot, else the first of those it covers.
	Displaced *slot.Claim
	// Asked is the boot time just before the Taker asked for it: its time counts
	// from there, for Keep.
	Asked time.Duration
}

// Lease is what a renewal grants: TTL, counted by the caller from the moment
// before it asked.
type Lease struct {
	TTL   time.Duration
	Phase slot.Phase
	// StopReason is set when somebody asked the holder to stop.
	StopReason string
}

// Slot is a look at one slot.
type Slot struct {
	Ref slot.Ref
	// Newest is live or ended; nil if the slot was never used. While the slot is
	// covered it is the claim that covers it, of another ref.
	Newest  *slot.Claim
	Hold    *slot.Hold // that pauses it, if any
	Waiting int        // how many stand in line
	// Line has the processes of those in line whose turn has not passed, the
	// head first, at most LineMax. Whether they live is not judged here.
	Line []slot.Process
}

// LineMax bounds Slot.Line.
const LineMax = 256

// InLine reports whether somebody in line for a free slot may still take it.
func (s Slot) InLine(sight Sight) bool {
	for _, p := range s.Line {
		if life, _ := sight.Life(p); life != Gone {
			return true
		}
	}
	return len(s.Line) == LineMax
}

// Live returns the claim that is not ended, or nil. Whether its holder lives or
// its deadline has passed is not judged here.
func (s Slot) Live() *slot.Claim {
	if s.Newest == nil || s.Newest.Ended {
		return nil
	}
	return s.Newest
}

// Capabilities are what a store declares and the suite asserts.
type Capabilities struct {
	Name         string
	CrossProcess bool // excludes processes of one host
	CrossHost    bool // excludes hosts, so that runs need a warden
	Notifies     bool // wakes the head of the line without polling
	BootTime     bool // deadlines count suspend and never step
	Limits       bool // Request.Limits are counted in the step that takes
	Covers       bool // Request.Also is taken in that step; else it is refused with slot.ErrConfig
	// Tick is the finest time step at which deadlines can be told apart.
	Tick time.Duration
}

// Store is a claim backend. Each method is one atomic step.
//
// Errors: *slot.BusyError and *slot.DeferError refuse; slot.ErrLost says that
// the key is not the slot's newest claim; slot.ErrUnknown says that the store
// could not be asked, or that it is not known whether the step was taken.
// A step with an unknown end may be sent again with the same key.
type Store interface {
	Capabilities() Capabilities

	// Acquire checks and takes. It records its verdict as a decision. A claim
	// that is not supervised is running at once: its caller sees to it that
	// nothing is left of earlier runs before it uses it.
	Acquire(ctx context.Context, req Request) (Grant, error)
	// Renew moves the deadline. An expired claim that is still the slot's
	// newest record is renewed; a displaced or ended one is lost for good, and
	// so is one that was starting for longer than slot.StartMax.
	Renew(ctx context.Context, key Key) (Lease, error)
	// Start takes a supervised claim from starting to running. It refuses with
	// a *slot.BusyError (ReasonUnstopped) while an earlier run of the slot, or of
	// one that it covers, still has no TreeGone on this host.
	Start(ctx context.Context, key Key) (Lease, error)
	// Check answers the claim if it is live, unexpired and the key's own.
	Check(ctx context.Context, key Key) (slot.Claim, error)
	// Release ends the claim, closes its run with the outcome (the caller has
	// proved that its tree is gone) and wakes the line. Releasing the slot's
	// newest record again is harmless.
	Release(ctx context.Context, key Key, out slot.Outcome) (slot.Claim, error)
	// Park turns a supervised claim that was started into a waiting one and
	// closes its run. The key is void afterwards; Acquire with Resumed goes
	// back to work.
	Park(ctx context.Context, key Key, out slot.Outcome) (slot.Claim, error)
	// AskStop marks a live claim, by id, so that its holder's next renewal
	// tells it to stop. It returns the claim.
	AskStop(ctx context.Context, claim, reason string) (slot.Claim, error)

	// Look reads one slot, Live all claims that are not ended.
	Look(ctx context.Context, ref slot.Ref) (Slot, error)
	Live(ctx context.Context) ([]slot.Claim, error)

	// Wake returns a channel that is poked when the ticket should look again:
	// when it becomes the head and when its slot is freed. Leave gives up the
	// place, and pokes the next in line.
	Wake(ctx context.Context, ref slot.Ref, ticket Ticket) (<-chan struct{}, error)
	Leave(ctx context.Context, ref slot.Ref, ticket Ticket) error

	Close() error
}

// Journal is where runs, decisions and holds are recorded.
type Journal interface {
	// TreeGone records that nothing of the run is left on this host, and, if
	// the run is not ended yet, how it ended.
	TreeGone(ctx context.Context, run string, out slot.Outcome) error
	// OpenRuns lists the slot's runs without TreeGone that began in this boot
	// of this host, oldest first: those of its claims, those that covered it, and the
	// same of each slot that its live claim covers.
	OpenRuns(ctx context.Context, ref slot.Ref) ([]slot.Run, error)
	// Run reads one run; Runs lists the newest first, of one ref (or of all
	// if ref is zero), limit 0 being all.
	Run(ctx context.Context, id string) (slot.Run, error)
	Runs(ctx context.Context, ref slot.Ref, limit int) ([]slot.Run, error)

	// Note records a decision, joining it to an equal one just before it.
	Note(ctx context.Context, d slot.Decision) error
	// Decisions lists the decisions on a ref, oldest first.
	Decisions(ctx context.Context, ref slot.Ref) ([]slot.Decision, error)
	// Prune drops decisions whose last time lies before the given one, and runs
	// that ended and were gone before it. It returns the number of decisions.
	Prune(ctx context.Context, before time.Time) (int, error)

	// Hold pauses a ref, a repository or everything; setting it again replaces the reason.
	Hold(ctx context.Context, h slot.Hold) error
	// Unhold ends a pause and reports whether there was one.
	Unhold(ctx context.Context, scope string) (bool, error)
	Holds(ctx context.Context) ([]slot.Hold, error)
}
