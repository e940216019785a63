package proc

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"github.com/oneslot/oneslot/internal/slot"
)

// Life is the answer to "does it still live?".
type Life string

const (
	Alive Life = "alive" // seen: the very process
	Dead  Life = "dead"  // proved: it has ended, zombies included
	// Unseen: it cannot be found out from here. It is not known to be dead.
	Unseen Life = "unseen"
)

// Sighting is what is seen of a process at one moment.
type Sighting struct {
	Life    Life
	PID     int    // as numbered here; 0 if it has no number here
	Stopped bool   // held by a stop signal or a debugger
	UID     int    // real user id; -1 if it is not alive
	Command string // the program's name only
	Detail  string // the finding, in words for people
}

// Look says whether the process p still lives. It never fails: what goes wrong
// makes p Unseen, and Detail says why.
//
// A process of another boot id is Unseen; the caller may know whether that was
// an earlier boot of this very host.
func Look(p slot.Process) Sighting {
	v, err := newView()
	if err != nil {
		return unseen("cannot look at processes: %v", err)
	}
	f := v.find(p)
	s := Sighting{Life: f.life, UID: -1, Detail: f.detail}
	if f.life != Alive {
		return s
	}
	s.Stopped, s.Command = f.stat.stopped(), f.stat.command()
	s.PID, s.UID = v.here(f.stat)
	return s
}

func unseen(format string, args ...any) Sighting {
	return Sighting{Life: Unseen, UID: -1, Detail: fmt.Sprintf(format, args...)}
}

// judge compares p with who has its number.
func judge(p slot.Process, st stat) finding {
	f := finding{life: Dead, stat: st}
	switch {
	case st.ticks != p.Ticks:
		f.stat = stat{}
		f.detail = fmt.Sprintf("the number %d was given to another process since (%s)", p.PID, st.command())
	case st.over():
		f.detail = fmt.Sprintf("process %d (%s) has ended; its parent has not collected it yet", p.PID, st.command())
	default:
		f.life, f.detail = Alive, fmt.Sprintf("process %d (%s) is there", p.PID, st.command())
		if st.stopped() {
			f.detail = fmt.Sprintf("process %d (%s) is there, but stopped", p.PID, st.command())
		}
	}
	return f
}

// Self is the identity of this process.
func Self() (slot.Process, error) { return Identify(os.Getpid()) }

// Identify tells who has the number pid in our own pid namespace at this
// moment. The error is os.ErrProcessDone if nobody has.
func Identify(pid int) (slot.Process, error) {
	v, err := newView()
	if err != nil {
		return slot.Process{}, err
	}
	return v.identify(pid)
}

// Signal sends sig to the process p, and to no other that has its number now.
// The error is os.ErrProcessDone if p has ended, a *NotPermittedError if it
// belongs to somebody else, and slot.ErrUnknown if p cannot be seen from here.
func Signal(p slot.Process, sig syscall.Signal) error {
	h, err := hold(p)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.signal(sig); err != nil {
		if errors.Is(err, os.ErrPermission) {
			return notPermitted(Look(p))
		}
		return err
	}
	return nil
}

// hold finds p and takes hold of it.
func hold(p slot.Process) (*handle, error) {
	v, err := newView()
	if err != nil {
		return nil, err
	}
	switch f := v.find(p); f.life {
	case Alive:
		return v.hold(f.stat)
	case Dead:
		return nil, os.ErrProcessDone
	default:
		return nil, fmt.Errorf("process %d: %w: %s", p.PID, slot.ErrUnknown, f.detail)
	}
}

// NotPermittedError says whose process we may not signal. It matches
// slot.ErrNotAllowed.
type NotPermittedError struct {
	PID     int
	UID     int
	User    string // the name of UID, or its number
	Command string
}

func (e *NotPermittedError) Error() string {
	return fmt.Sprintf("process %d (%s) belongs to %s (uid %d): not allowed to stop it", e.PID, e.Command, e.User, e.UID)
}

// Is reports a match with slot.ErrNotAllowed.
func (e *NotPermittedError) Is(target error) bool { return target == slot.ErrNotAllowed }

func notPermitted(s Sighting) *NotPermittedError {
	return &NotPermittedError{PID: s.PID, UID: s.UID, User: UserName(s.UID), Command: s.Command}
}

// UserName is a user's name, or the number if it has none.
func UserName(uid int) string {
	name := strconv.Itoa(uid)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return name
}
