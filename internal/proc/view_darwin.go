package proc

import (
	"errors"
	"fmt"
	"os"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// Values of kinfo_proc's p_stat.
const (
	statStopped = 4
	statZombie  = 5
)

// view is how this process sees the others. There are no pid namespaces, and
// start times are microseconds since 1970.
type view struct {
	boot string
	self int
}

func newView() (view, error) {
	boot, err := clock.BootID()
	return view{boot: boot, self: os.Getpid()}, err
}

// FirstNamespace is true: there is only one.
func FirstNamespace() bool { return true }

// Adopt does nothing: there are no subreapers.
func Adopt() error { return nil }

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
	case p.Boot != v.boot || p.NS != 0:
		return finding{life: Unseen, detail: "another boot or host"}
	}
	st, err := v.read(p.PID)
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return finding{life: Dead, detail: fmt.Sprintf("no process has the number %d any more", p.PID)}
	case err != nil:
		return finding{life: Unseen, detail: err.Error()}
	}
	return judge(p, st)
}

// read asks for one process. The error is os.ErrProcessDone if there is none.
func (v view) read(pid int) (stat, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == nil && int(k.Proc.P_pid) == pid {
		return kinfo(k), nil
	}
	// An answer of no length is how the kernel says "nobody".
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return stat{}, os.ErrProcessDone
	}
	return stat{}, errors.Join(fmt.Errorf("process %d: %w", pid, slot.ErrUnknown), err)
}

func kinfo(k *unix.KinfoProc) stat {
	st := stat{
		pid:     int(k.Proc.P_pid),
		comm:    unix.ByteSliceToString(k.Proc.P_comm[:]),
		state:   'R',
		ppid:    int(k.Eproc.Ppid),
		pgrp:    int(k.Eproc.Pgid),
		threads: 1,
		ticks:   uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
	}
	switch k.Proc.P_stat {
	case statStopped:
		st.state = 'T'
	case statZombie:
		st.state = 'Z'
	}
	return st
}

func (v view) again(st stat) (stat, bool) {
	now, err := v.read(st.pid)
	return now, err == nil && now.ticks == st.ticks
}

// here gives the number of a process and its real user, -1 if that is not told.
func (v view) here(st stat) (pid, uid int) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", st.pid)
	if err != nil {
		return st.pid, -1
	}
	return st.pid, int(k.Eproc.Pcred.P_ruid)
}

func (v view) identify(pid int) (slot.Process, error) {
	st, err := v.read(pid)
	if err != nil {
		return slot.Process{}, err
	}
	return v.identity(st), nil
}

func (v view) identity(st stat) slot.Process {
	return slot.Process{Boot: v.boot, PID: st.pid, Ticks: st.ticks}
}

// scan reads all processes, at one moment.
func (v view) scan() (all []stat, hazy bool, err error) {
	ks, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, false, err
	}
	for i := range ks {
		all = append(all, kinfo(&ks[i]))
	}
	return all, false, nil
}

func (v view) below([]stat) ([]stat, bool, error) { return nil, false, errors.ErrUnsupported }

// carries answers no: the environment of others is not read here, so a tree is
// known by its groups and ancestors only.
func (v view) carries(stat, string, []byte) (yes bool, saw haze) { return false, sharp }

func (v view) markGroup(g Group, all []stat, marked map[int]bool) error {
	if g.Leader.Boot == v.boot {
		markNumbered(g, all, func(st stat) (pid, pgid int) { return st.pid, st.pgrp }, marked)
	}
	return nil
}
