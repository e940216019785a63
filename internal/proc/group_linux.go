package proc

import (
	"fmt"
	"strconv"

	"github.com/oneslot/oneslot/internal/slot"
)

// markGroup marks the processes of a group, which may be of another namespace.
func (v view) markGroup(g Group, all []stat, marked map[int]bool) error {
	if g.Leader.Boot != v.boot || g.PGID <= 1 {
		return nil
	}
	numbers := func(st stat) (pid, pgid int) { return st.pid, st.pgrp }
	if g.Leader.NS != v.ns || v.foreign {
		if f := v.find(g.Leader); f.life == Unseen {
			return fmt.Errorf("%w: process group %d: %s", slot.ErrUnknown, g.PGID, f.detail)
		}
		numbers = func(st stat) (pid, pgid int) { return v.inside(g.Leader.NS, st) }
	}
	markNumbered(g, all, numbers, marked)
	return nil
}

// inside gives the numbers of a process and its group in the namespace ns, or
// zeros if it is not in it or must not be asked.
func (v view) inside(ns uint64, st stat) (pid, pgid int) {
	its, err := v.fs.namespace(strconv.Itoa(st.pid))
	if err != nil || its != ns {
		return 0, 0
	}
	s, err := v.fs.status(st.pid)
	if err != nil {
		return 0, 0
	}
	return last(s.pids), last(s.pgids)
}
