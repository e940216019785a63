package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// firstNamespace is the inode of the pid namespace that the kernel starts with.
const firstNamespace = 0xEFFFFFFC

// view is how this process sees the others: through a /proc whose numbers may
// be those of another namespace than our own (a sandbox that did not mount a
// /proc of its own).
type view struct {
	fs      procfs
	boot    string
	ns      uint64 // of our own pid namespace
	self    int    // our number in fs
	foreign bool   // numbers in fs are not our own
}

func newView() (view, error) {
	boot, err := clock.BootID()
	if err != nil {
		return view{}, err
	}
	v := view{fs: "/proc", boot: boot}
	if v.ns, err = v.fs.namespace("self"); err != nil {
		return view{}, fmt.Errorf("own pid namespace: %w", err)
	}
	link, err := os.Readlink(string(v.fs) + "/self")
	if err != nil {
		return view{}, fmt.Errorf("own number: %w", err)
	}
	if v.self, err = strconv.Atoi(link); err != nil {
		return view{}, fmt.Errorf("own number: %w", err)
	}
	v.foreign = v.self != os.Getpid()
	return v, nil
}

// FirstNamespace reports whether we are in the machine's first pid namespace.
// If that cannot be found out we are not.
func FirstNamespace() bool {
	ns, err := procfs("/proc").namespace("self")
	return err == nil && ns == firstNamespace
}

// finding is what came of looking for a process; stat is set if it is alive or
// a zombie.
type finding struct {
	life   Life
	detail string
	stat   stat
}

func (v view) find(p slot.Process) finding {
	switch {
	case p.IsZero():
		return finding{life: Unseen, detail: "no process is named"}
	case p.Boot != v.boot:
		return finding{life: Unseen, detail: "another boot or host"}
	case p.NS == 0:
		return finding{life: Unseen, detail: "its pid namespace is not known"}
	case p.NS == v.ns && !v.foreign:
		return v.findHere(p)
	}
	return v.findNested(p)
}

// findHere judges a process of our own namespace.
func (v view) findHere(p slot.Process) finding {
	for range 2 { // the number may be given away between the two questions
		st, err := v.fs.stat(p.PID, nil)
		if err == nil {
			return judge(p, st)
		}
		if errors.Is(unix.Kill(p.PID, 0), unix.ESRCH) {
			return finding{life: Dead, detail: fmt.Sprintf("no process has the number %d any more", p.PID)}
		}
	}
	return finding{life: Unseen, detail: fmt.Sprintf("a process has the number %d, but /proc hides which one (hidepid?)", p.PID)}
}

// findNested looks for a process of another namespace among all that /proc
// shows. Only the first namespace sees everybody, so only there is one that is
// not seen dead.
func (v view) findNested(p slot.Process) finding {
	pids, err := v.fs.pids()
	if err != nil {
		return finding{life: Unseen, detail: fmt.Sprintf("cannot list processes: %v", err)}
	}
	seen, blind := false, false // somebody of its namespace; somebody not judged
	for _, pid := range pids {
		// The links of other users' processes cannot be read, their numbers can.
		ns, err := v.fs.namespace(strconv.Itoa(pid))
		if err == nil && ns != p.NS || absent(err) {
			continue
		}
		seen = seen || err == nil
		st, err := v.fs.stat(pid, nil)
		if err != nil {
			blind = blind || !absent(err)
			continue
		}
		if st.ticks != p.Ticks {
			continue
		}
		status, err := v.fs.status(pid)
		if err != nil {
			blind = blind || !absent(err)
			continue
		}
		if last(status.pids) == p.PID {
			return judge(p, st)
		}
	}
	switch {
	case blind || !v.seesAll(p.NS):
		return finding{life: Unseen, detail: "it is in a pid namespace that cannot be seen into from here"}
	case seen:
		return finding{life: Dead, detail: fmt.Sprintf("no process has the number %d in its pid namespace any more", p.PID)}
	}
	return finding{life: Dead, detail: "its pid namespace is gone, and its processes with it"}
}

// seesAll reports whether /proc shows every process of the namespace ns: all
// those of the machine if the first process of all can be read (hidepid hides
// it first), all those of our own namespace if it can hide nothing from us.
func (v view) seesAll(ns uint64) bool {
	if _, err := v.fs.stat(1, nil); err != nil {
		return false
	}
	if v.ns == firstNamespace && !v.foreign {
		return true
	}
	first, err := v.fs.namespace("1")
	return err == nil && (first == firstNamespace || first == ns) || ns == v.ns
}

// again reads a process anew, if it still is that one.
func (v view) again(st stat) (stat, bool) {
	now, err := v.fs.stat(st.pid, nil)
	return now, err == nil && now.ticks == st.ticks
}

// here gives the number of a process in our own namespace, 0 if it has none,
// and its real user, -1 if that is not told.
func (v view) here(st stat) (pid, uid int) {
	uid = -1
	s, err := v.fs.status(st.pid)
	if err == nil {
		uid = s.uid
	}
	if !v.foreign {
		return st.pid, uid
	}
	if ns, err := v.fs.namespace(strconv.Itoa(st.pid)); err != nil || ns != v.ns {
		return 0, uid
	}
	return last(s.pids), uid
}

func (v view) number(st stat) int {
	if !v.foreign {
		return st.pid
	}
	pid, _ := v.here(st)
	return pid
}

// identify tells who has a number of our own namespace.
func (v view) identify(pid int) (slot.Process, error) {
	if v.foreign {
		all, _, err := v.scan()
		if err != nil {
			return slot.Process{}, err
		}
		for _, st := range all {
			if v.number(st) == pid {
				return v.identity(st), nil
			}
		}
		return slot.Process{}, os.ErrProcessDone
	}
	st, err := v.fs.stat(pid, nil)
	switch {
	case err == nil:
		return v.identity(st), nil
	case errors.Is(unix.Kill(pid, 0), unix.ESRCH):
		return slot.Process{}, os.ErrProcessDone
	}
	return slot.Process{}, fmt.Errorf("process %d: %w: /proc hides it: %w", pid, slot.ErrUnknown, err)
}

// identity names a process so that it is known from as many namespaces as
// possible: by its number in the innermost one, or else in our own.
func (v view) identity(st stat) slot.Process {
	p := slot.Process{Boot: v.boot, NS: v.ns, PID: v.number(st), Ticks: st.ticks}
	ns, err := v.fs.namespace(strconv.Itoa(st.pid))
	if err != nil || ns == v.ns {
		return p
	}
	if s, err := v.fs.status(st.pid); err == nil && len(s.pids) > 0 {
		p.NS, p.PID = ns, last(s.pids)
	}
	return p
}
