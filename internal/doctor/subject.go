package doctor

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// Store is what doctor asks of the store.
type Store interface {
	Address() string
	Path() string // of the database file
	Dir() string  // where run folders and the registry lie

	Live(ctx context.Context) ([]slot.Claim, error)
	Holds(ctx context.Context) ([]slot.Hold, error)
	Runs(ctx context.Context, ref slot.Ref, limit int) ([]slot.Run, error)
	Verify(ctx context.Context) error
	// Schema tells the level of the file, and the least level of a program
	// that may write to it; zeros if there is no file.
	Schema(ctx context.Context) (version, least int, err error)
	// Probe commits a write that leaves nothing behind.
	Probe(ctx context.Context) error
	// Writers lists who has the writers' turn now.
	Writers() ([]int, error)
}

// Machine is what is asked of the kernel.
type Machine struct {
	Proc      func() error // whether processes can be seen
	Pidfd     func() error // whether a process can be held
	Subreaper func() error // whether orphans can be adopted
	First     bool         // this is the machine's first pid namespace
	// FileSystem names the file system that a path is on, and whether what it
	// holds is gone with the machine's power.
	FileSystem func(path string) (kind string, volatile bool, err error)
	// Free is the room for this user on the file system of a path, in bytes.
	Free func(path string) (uint64, error)
	// Cgroup is the control group of a process; empty if it is not known.
	Cgroup func(pid int) string
	// Linger tells whether a user's systemd outlives the user's last login; known
	// is false where there is no systemd, or no such user.
	Linger func(uid int) (on, known bool)
}

// Limits say where ok ends.
type Limits struct {
	FreeWarn, FreeFail uint64        // bytes left on the disk
	Write              time.Duration // of one durable write
	Behind             time.Duration // of the wall clock behind the newest fence
}

// DefaultLimits are what `oneslot doctor` judges by.
func DefaultLimits() Limits {
	return Limits{FreeWarn: 1 << 30, FreeFail: 16 << 20, Write: 250 * time.Millisecond, Behind: 2 * time.Second}
}

// Subject is what doctor looks at. What could not be had is nil, with the reason
// in the error beside it.
type Subject struct {
	Config    *config.Config
	ConfigErr error
	Clock     clock.Clock
	ClockErr  error
	Store     Store
	StoreErr  error
	Queue     Queue // nil if the store is somebody else's daemon

	// Daemon tells the process that works the queue: 0 for none.
	Daemon func() (int, error)
	// Peek asks a gate about a ref that is nobody's. The error says why it could
	// not find out.
	Peek func(context.Context, config.Gate) error
	// Greet asks a forge who its token is, and how many repositories match; it tells
	// what it found. nil: forges are not asked.
	Greet func(context.Context, config.Forge) (string, error)

	Sight   claim.Sight
	Machine Machine
	Level   int // the schema level of this program
	Env     func(string) (string, bool)
	TempDir string
	UID     int
	Limits  Limits
}

type check struct {
	name string
	look func(context.Context, *Subject, *report)
}

func checks() []check {
	return []check{
		{"configuration", configuration},
		{"default_host", defaultHost},
		{"forges", forges},
		{"secrets", secrets},
		{"programs", programs},
		{"store", store},
		{"write", write},
		{"disk", disk},
		{"clock", clocks},
		{"processes", processes},
		{"claims", claims},
		{"runs", runs},
		{"daemon", daemon},
		{"gates", gates},
		{"queue", work},
		{"environment", environment},
	}
}

// Examine makes all checks, one after the other. A check that cannot be made
// because of what an earlier one found has no line.
func Examine(ctx context.Context, s *Subject) []Line {
	var lines []Line
	for _, c := range checks() {
		r := &report{check: c.name}
		c.look(ctx, s, r)
		lines = append(lines, r.lines...)
	}
	return lines
}

// Worst is the worst status of the lines.
func Worst(lines []Line) Status {
	worst := OK
	for _, l := range lines {
		if l.Status == Fail || l.Status == Warn && worst == OK {
			worst = l.Status
		}
	}
	return worst
}
