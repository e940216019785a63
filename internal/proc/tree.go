package proc

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// RunVariable is the environment variable by which every process of a run can
// be found from its first instruction on.
const RunVariable = "ONESLOT_RUN"

// Tree says by which marks the processes of a run are known. The tree is
// everybody with one of the marks and all their descendants. This process is
// never part of it.
//
// Whoever drops the run's variable, leaves the group and outlives all its
// ancestors is only found below a living subreaper (Under).
type Tree struct {
	// Run is the run's id, as ONESLOT_RUN in the environment of its processes.
	Run string
	// Processes are noted ones. Those that have ended, and those of another
	// boot, are no hindrance.
	Processes []slot.Process
	// Groups are process groups of the run.
	Groups []Group
	// Except are never members and never signalled; their descendants are
	// judged like everybody else's.
	Except []slot.Process
	// Under are those whose descendants belong to the tree, but who themselves
	// do not. A tree with neither Run nor Groups is found without a look at
	// all processes of the machine.
	Under []slot.Process
}

// Group is a process group and who began it.
type Group struct {
	PGID   int
	Leader slot.Process
}

// Member is a living process of a tree.
type Member struct {
	Process slot.Process
	PID     int // as seen from here; 0 if it has no number here
	UID     int // -1 if not known
	Command string
	Stopped bool
}

// Members lists the living processes of the tree. Before it answers that there
// are none it looks again, if somebody came or went. The error is
// slot.ErrUnknown if a mark cannot be judged from here: then there may be more.
func (t Tree) Members() ([]Member, error) {
	v, err := newView()
	if err != nil {
		return nil, err
	}
	dead := make(map[key]bool)
	for try := 1; ; try++ {
		found, saw, err := t.look(v, nil, dead)
		if len(found) == 0 && err == nil && saw != sharp && try < hazyLooks {
			time.Sleep(hazyPause)
			continue
		}
		if len(found) == 0 && err == nil && saw == veiled {
			err = fmt.Errorf("%w: a process is in the middle of an exec", slot.ErrUnknown)
		}
		var ms []Member
		for _, st := range found {
			ms = append(ms, v.member(st))
		}
		return ms, err
	}
}

func (v view) member(st stat) Member {
	m := Member{Process: v.identity(st), Command: st.command(), Stopped: st.stopped()}
	m.PID, m.UID = v.here(st)
	return m
}

// haze is why finding nobody proves nothing yet.
type haze int

const (
	sharp  haze = iota // it does
	hazy               // somebody came or went meanwhile
	veiled             // somebody is in the middle of an exec, and shows no mark
)

// look finds the members. What it finds beside an error are members, but perhaps
// not all. Those of known that still live are members. dead are those that had
// ended before; others that have may have left somebody behind (nil: no matter).
func (t Tree) look(v view, known []stat, dead map[key]bool) (found []stat, saw haze, err error) {
	roots, unjudged := v.findAll(t.Processes)
	for _, st := range known {
		if now, ok := v.again(st); ok {
			roots = append(roots, now)
		}
	}
	under, err := v.findAll(t.Under)
	unjudged = errors.Join(unjudged, err)

	var all []stat
	var moved bool
	cheap := t.Run == "" && len(t.Groups) == 0
	if cheap {
		all, moved, err = v.below(slices.Concat(roots, under))
		cheap = !errors.Is(err, errors.ErrUnsupported)
	}
	if !cheap {
		all, moved, err = v.scan()
	}
	if err != nil {
		return nil, hazy, fmt.Errorf("%w: processes: %w", slot.ErrUnknown, err)
	}

	if dead != nil {
		for _, st := range all {
			if k := (key{st.pid, st.ticks}); st.over() && !dead[k] {
				dead[k], moved = true, true
			}
		}
	}
	if moved {
		saw = hazy
	}

	marked := make(map[int]bool)
	for _, st := range roots {
		marked[st.pid] = true
	}
	if t.Run != "" {
		buf := make([]byte, 0, 64<<10)
		for _, st := range all {
			yes, of := v.carries(st, t.Run, buf)
			marked[st.pid] = marked[st.pid] || yes
			saw = max(saw, of)
		}
	}
	for _, g := range t.Groups {
		unjudged = errors.Join(unjudged, v.markGroup(g, all, marked))
	}
	above := make(map[int]bool)
	except := map[int]bool{v.self: true}
	for _, st := range under {
		above[st.pid], except[st.pid] = true, true
	}
	descend(all, above, marked)
	for _, p := range t.Except {
		if f := v.find(p); f.life == Alive {
			except[f.stat.pid] = true
		}
	}
	for _, st := range all {
		if marked[st.pid] && !except[st.pid] && !st.kernel && !st.over() && st.pid != 1 {
			found = append(found, st)
		}
	}
	return found, saw, unjudged
}

// findAll reads those that are alive. The error names those that cannot be
// judged from here.
func (v view) findAll(ps []slot.Process) (alive []stat, unjudged error) {
	for _, p := range ps {
		switch f := v.find(p); {
		case f.life == Alive:
			alive = append(alive, f.stat)
		case f.life == Unseen && p.Boot == v.boot:
			unjudged = errors.Join(unjudged, fmt.Errorf("%w: process %d: %s", slot.ErrUnknown, p.PID, f.detail))
		}
	}
	return alive, unjudged
}

// markNumbered marks the processes of a group. The kernel does not give a
// group's number to a new process while the group has members, so a stranger
// with that number proves that the group has ended.
func markNumbered(g Group, all []stat, numbers func(stat) (pid, pgid int), marked map[int]bool) {
	var members []int
	for _, st := range all {
		pid, pgid := numbers(st)
		if pid == g.PGID && st.ticks != g.Leader.Ticks {
			return
		}
		if pgid == g.PGID && st.ticks >= g.Leader.Ticks {
			members = append(members, st.pid)
		}
	}
	for _, pid := range members {
		marked[pid] = true
	}
}

// descend marks all descendants of the marked ones and of those above.
func descend(all []stat, above, marked map[int]bool) {
	children := make(map[int][]stat)
	born := make(map[int]uint64, len(all))
	var next []int
	for _, st := range all {
		children[st.ppid] = append(children[st.ppid], st)
		born[st.pid] = st.ticks
		if marked[st.pid] || above[st.pid] {
			next = append(next, st.pid)
		}
	}
	for len(next) > 0 {
		parent := next[len(next)-1]
		next = next[:len(next)-1]
		for _, st := range children[parent] {
			// All were not read at one moment: nobody is older than its
			// parent, so such a parent is a stranger with its number.
			if !marked[st.pid] && st.ticks >= born[parent] {
				marked[st.pid] = true
				next = append(next, st.pid)
			}
		}
	}
}
