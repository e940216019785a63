package proc

import (
	"strings"
	"unicode"
)

// stat is what oneslot reads of /proc/PID/stat, or of its like elsewhere.
type stat struct {
	pid     int
	comm    string
	state   byte
	ppid    int
	pgrp    int
	kernel  bool   // a thread of the kernel itself
	exiting bool   // it runs no more
	threads int    // living ones
	ticks   uint64 // start time, in 1/100 s of boot time

	// Where its environment lies. The end is 0 between two programs, in the
	// middle of an exec.
	envStart, envEnd uint64
}

// over reports whether the process has ended. A first thread that has ended
// while others go on looks like a zombie, and is not one.
func (s stat) over() bool {
	switch s.state {
	case 'Z', 'X', 'x':
		return s.threads <= 1
	}
	return false
}

// stopped reports whether a signal or a debugger holds the process.
func (s stat) stopped() bool { return s.state == 'T' || s.state == 't' }

// command is the name for people: nothing in it can play with a terminal.
func (s stat) command() string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s.comm)
}
