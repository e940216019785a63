package proc

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Indexes into what follows the name in /proc/PID/stat: three less than the
// numbers in proc(5).
const (
	fieldState    = 0
	fieldPPID     = 1
	fieldPgrp     = 2
	fieldFlags    = 6
	fieldThreads  = 17
	fieldStart    = 19
	fieldEnvStart = 47
	fieldEnvEnd   = 48

	flagExiting      = 0x00000004 // PF_EXITING
	flagKernelThread = 0x00200000 // PF_KTHREAD
)

var errStat = errors.New("not the line of a process")

// parseStat reads /proc/PID/stat. The name in it is the process's own choice
// and may hold blanks, parentheses and line ends; nothing after it does.
func parseStat(b []byte) (stat, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return stat{}, errStat
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) <= fieldStart || len(f[fieldState]) != 1 {
		return stat{}, errStat
	}
	var bad error
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		bad = errors.Join(bad, err)
		return n
	}
	flags := number(f[fieldFlags])
	s := stat{
		pid:     number(strings.TrimSpace(string(b[:open]))),
		comm:    string(b[open+1 : end]),
		state:   f[fieldState][0],
		ppid:    number(f[fieldPPID]),
		pgrp:    number(f[fieldPgrp]),
		kernel:  flags&flagKernelThread != 0,
		exiting: flags&flagExiting != 0,
		threads: number(f[fieldThreads]),
	}
	ticks, err := strconv.ParseUint(f[fieldStart], 10, 64)
	if err = errors.Join(bad, err); err != nil || s.pid <= 0 {
		return stat{}, errStat
	}
	s.ticks = ticks
	if len(f) > fieldEnvEnd {
		s.envStart, _ = strconv.ParseUint(f[fieldEnvStart], 10, 64)
		s.envEnd, _ = strconv.ParseUint(f[fieldEnvEnd], 10, 64)
	}
	return s, nil
}

// hasVariable reports whether a NUL-separated environment sets name to exactly
// this value.
func hasVariable(environ []byte, name, value string) bool {
	want := name + "=" + value
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if string(v) == want {
			return true
		}
	}
	return false
}

// status is what oneslot reads of /proc/PID/status.
type status struct {
	uid int // the real one
	// Its number and that of its group in each pid namespace, from that of
	// /proc inwards. Kernels before 4.1 do not tell.
	pids, pgids []int
}

// parseStatus reads /proc/PID/status.
func parseStatus(b []byte) (status, error) {
	s := status{uid: -1}
	for line := range bytes.Lines(b) {
		key, rest, _ := bytes.Cut(line, []byte{':'})
		f := strings.Fields(string(rest))
		switch string(key) {
		case "Uid":
			if len(f) == 0 {
				return status{}, errStat
			}
			uid, err := strconv.Atoi(f[0])
			if err != nil {
				return status{}, errStat
			}
			s.uid = uid
		case "NSpid":
			s.pids = numbers(f)
		case "NSpgid":
			s.pgids = numbers(f)
		}
	}
	if s.uid < 0 {
		return status{}, errStat
	}
	return s, nil
}

// numbers keeps those of the words that are numbers.
func numbers(words []string) []int {
	ns := make([]int, 0, len(words))
	for _, w := range words {
		if w == "" || w[0] < '0' || w[0] > '9' {
			continue
		}
		if n, err := strconv.Atoi(w); err == nil {
			ns = append(ns, n)
		}
	}
	return ns
}

// last is the innermost number, or 0.
func last(ns []int) int {
	if len(ns) == 0 {
		return 0
	}
	return ns[len(ns)-1]
}
