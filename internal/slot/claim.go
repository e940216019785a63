package slot

import (
	"strconv"
	"strings"
	"time"
)

// Kind says how a claim ends.
type Kind string

const (
	// Supervised claims are renewed by the supervisor of a run. They end by
	// release, by expiry, or by proof that the supervisor is dead.
	Supervised Kind = "supervised"
	// Detached claims belong to a caller that oneslot does not supervise. They
	// end by release or expiry, or with the process they are bound to.
	Detached Kind = "detached"
	// Waiting claims keep a ref for a person. They have no time to live; they
	// end by release, takeover, or after the store's longest wait.
	Waiting Kind = "waiting"
)

// Phase says how far the work under a claim has come.
type Phase string

const (
	// Starting: claimed, nothing runs yet. It has a deadline of its own.
	Starting Phase = "starting"
	// Running: the worker may run. A claim gets here only when every earlier
	// tree of the slot on this host is gone.
	Running Phase = "running"
	// Stopping: somebody asked the run to stop; its tree is being ended.
	Stopping Phase = "stopping"
)

// Bounds and defaults of the time settings of a claim.
const (
	MinTTL = time.Second
	// MaxTTL bounds what a caller may ask for: nobody is away for longer and comes
	// back.
	MaxTTL       = 7 * 24 * time.Hour
	DefaultTTL   = 60 * time.Second
	DefaultGrace = 10 * time.Second
	// DetachedTTL is the default time to live of a detached claim.
	DetachedTTL = 15 * time.Minute
	// StartTTL, plus the grace time, is how long a claim may stay in Starting
	// without a renewal; StartMax bounds it however often it is renewed.
	StartTTL = 30 * time.Second
	StartMax = 5 * time.Minute
	// WaitingMax is the default longest life of a waiting claim.
	WaitingMax = 7 * 24 * time.Hour
)

// Process is the identity of one process, good for as long as the machine is
// up: a number alone comes back, these four together do not.
type Process struct {
	Boot  string `json:"boot,omitempty"`  // the kernel's boot id
	NS    uint64 `json:"ns,omitempty"`    // inode of its pid namespace; 0 unknown
	PID   int    `json:"pid,omitempty"`   // as numbered in that namespace
	Ticks uint64 `json:"ticks,omitempty"` // start time, field 22 of /proc/PID/stat
}

// FarBoot begins the Boot of a process that a store was told of over a network. No
// boot id of a kernel does, so nobody takes such a process for one of its own host.
const FarBoot = "far:"

// Far reports whether p is known by hearsay only; see FarBoot.
func (p Process) Far() bool { return strings.HasPrefix(p.Boot, FarBoot) }

// IsZero reports whether p names no process.
func (p Process) IsZero() bool { return p.PID == 0 }

// Holder says who holds a claim, for people and for proofs of death. None of it
// is ownership: that is the token alone.
type Holder struct {
	Host    string  `json:"host"`    // display name, never identity
	Process Process `json:"process"` // the supervisor, or the process it is bound to
	UID     int     `json:"uid"`
	Path    string  `json:"path"`    // how the wish arrived: manual, poll, ...
	Command string  `json:"command"` // the program's name only
}

// String names the holder for people: program, pid, host and path.
func (h Holder) String() string { return h.text("pid") }

// text is String, with a word for whose pid it is.
func (h Holder) text(pid string) string {
	s := h.Command
	if s == "" {
		s = "somebody"
	}
	if h.Process.PID != 0 {
		s += " (" + pid + " " + strconv.Itoa(h.Process.PID) + ")"
	}
	if h.Host != "" {
		s += " on " + h.Host
	}
	if h.Path != "" {
		s += ", path " + h.Path
	}
	return s
}

// Claim is the public record of the right to work on a slot. It never carries
// the owner's token.
type Claim struct {
	ID     string
	Ref    Ref
	Kind   Kind
	Phase  Phase
	Fence  int64
	Holder Holder

	// Also lists the refs whose slots the claim covers, too, in a fixed order: they
	// are held for as long as it lives.
	Also []Ref

	Run string // the run it was taken for; empty for detached claims
	Dir string // that run's folder on the holder's host

	// Warden: a second process ends the tree before the deadline, so expiry
	// alone proves that the work has stopped.
	Warden bool
	// Bound: the claim lives as long as Holder.Process does; its expiry counts
	// only for those who cannot see that process.
	Bound bool

	TTL   time.Duration
	Grace time.Duration

	// Wall-clock times are for display; Left is what decides.
	Since     time.Time
	RenewedAt time.Time
	ExpiresAt time.Time // zero: does not expire
	// Left is the time to the deadline by the store's clock at the moment of
	// the answer; zero or less is expired.
	Left time.Duration

	StopReason string // why somebody asked the holder to stop; empty if nobody did

	Ended   bool
	EndedAt time.Time
	Outcome Outcome // of an ended claim
}

// Who names the holder for people. The pid of a run's claim is not the command's.
func (c Claim) Who() string {
	if c.Run != "" {
		return c.Holder.text(ofSupervisor)
	}
	return c.Holder.String()
}

// ofSupervisor says whose pid a run's holder has.
const ofSupervisor = "supervisor pid"

// Expired reports whether the deadline had passed when the record was read.
func (c Claim) Expired() bool { return c.Left <= 0 }
