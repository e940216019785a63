package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the one to which orphans among its descendants
// fall. It must collect them.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	return nil
}

// scan reads all processes that /proc shows. It is hazy if one ended before it
// could be read: what that one started in the meantime may be missing.
func (v view) scan() (all []stat, hazy bool, err error) {
	pids, err := v.fs.pids()
	if err != nil {
		return nil, false, err
	}
	all = make([]stat, 0, len(pids))
	buf := make([]byte, 0, 4096)
	for _, pid := range pids {
		st, err := v.fs.stat(pid, buf)
		switch {
		case err == nil:
			all = append(all, st)
		case absent(err):
			hazy = true
		case !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM): // hidepid=1
			return nil, false, err
		}
	}
	return all, hazy, nil
}

// below reads the given processes and all their descendants, without looking
// at anybody else. The error is errors.ErrUnsupported if the kernel cannot.
func (v view) below(roots []stat) (all []stat, hazy bool, err error) {
	seen := make(map[int]bool, len(roots))
	for _, st := range roots {
		if !seen[st.pid] {
			seen[st.pid] = true
			all = append(all, st)
		}
	}
	for i := 0; i < len(all); i++ {
		pids, err := v.fs.children(all[i].pid)
		if absent(err) {
			hazy = true
			continue
		}
		if err != nil {
			return nil, false, err
		}
		for _, pid := range pids {
			if seen[pid] {
				continue
			}
			st, err := v.fs.stat(pid, nil)
			if absent(err) || err == nil && st.ppid != all[i].pid {
				hazy = true
				continue
			}
			if err != nil {
				return nil, false, err
			}
			seen[pid] = true
			all = append(all, st)
		}
	}
	return all, hazy, nil
}

// carries reports whether the environment of a process names the run. In the
// middle of an exec a process has no environment yet: it is veiled. One that
// has ended since it was listed may have left somebody behind. Those that we may
// not ask carry nothing.
func (v view) carries(st stat, run string, buf []byte) (yes bool, saw haze) {
	if st.kernel || st.over() {
		return false, sharp
	}
	b, err := slurp(v.fs.path(st.pid, "environ"), buf)
	if err != nil {
		if absent(err) {
			return false, hazy
		}
		return false, sharp
	}
	if len(b) > 0 {
		return hasVariable(b, RunVariable, run), sharp
	}
	st, err = v.fs.stat(st.pid, buf)
	switch {
	case err != nil, st.exiting, st.over():
		return false, hazy
	case st.envEnd == 0:
		return false, veiled
	case st.envStart < st.envEnd: // the exec was over only after we had read
		return false, hazy
	}
	return false, sharp
}
