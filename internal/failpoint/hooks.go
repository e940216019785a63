//go:build oneslot_hooks

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
)

// What the environment may ask for. Values are read once, on the first use.
//
//	ONESLOT_FAILPOINT=name[:n]        kill -9 ourselves at the n-th hit (1)
//	ONESLOT_FAILPOINT_NOTE=FILE       before that, append the name to FILE
//	ONESLOT_FAILPOINT_PAUSE=name[:n]  SIGSTOP ourselves there
//	ONESLOT_CLOCK_WALL=±D[@AFTER]     wall time is off by D, from AFTER on
const (
	killVar  = "ONESLOT_FAILPOINT"
	noteVar  = "ONESLOT_FAILPOINT_NOTE"
	pauseVar = "ONESLOT_FAILPOINT_PAUSE"
	wallVar  = "ONESLOT_CLOCK_WALL"
)

var kills, pauses atomic.Int64 // hits so far

// Hit marks a moment, and dies or stops there if the environment says so.
func Hit(name string) {
	if due(killVar, name, &kills) {
		note(name)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal takes effect before long
	}
	if due(pauseVar, name, &pauses) {
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(100 * time.Millisecond) // another thread may be told first, and stop us
	}
}

// note tells tests apart a process that died here from one that others killed.
func note(name string) {
	f, err := os.OpenFile(os.Getenv(noteVar), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		f.WriteString(name + "\n")
	}
}

func due(variable, name string, hits *atomic.Int64) bool {
	want, count, counted := strings.Cut(os.Getenv(variable), ":")
	if want != name {
		return false
	}
	n := int64(1)
	if counted {
		n, _ = strconv.ParseInt(count, 10, 64)
	}
	return hits.Add(1) == n
}

// Clock returns c with its wall time shifted as the environment says.
func Clock(c clock.Clock) clock.Clock {
	text, after, _ := strings.Cut(os.Getenv(wallVar), "@")
	by, err := time.ParseDuration(text)
	if err != nil {
		return c
	}
	wait, _ := time.ParseDuration(after)
	return shifted{Clock: c, by: by, from: c.Boot() + wait}
}

type shifted struct {
	clock.Clock
	by, from time.Duration
}

func (s shifted) Wall() time.Time {
	if s.Boot() < s.from {
		return s.Clock.Wall()
	}
	return s.Clock.Wall().Add(s.by)
}
