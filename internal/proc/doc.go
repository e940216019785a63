// Package proc is everything oneslot knows about processes: who one is, whether
// it still lives, when it ends, and how a whole tree of them is brought to its
// end and proved to be gone.
//
// A number is never an identity here. A process is meant by boot id, pid
// namespace, number and start ticks together, and whatever is signalled is
// first held by a pidfd and then identified, so that a number that came back
// is never hit. What cannot be found out is Unseen, and never Dead.
//
// This package starts no process and keeps no state.
package proc
