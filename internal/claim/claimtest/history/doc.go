// Package history judges what really happened to slots, when many processes
// worked on them at once and some were killed.
//
// A Recorder writes one line before and one line after each call; Wrap puts it
// around a store. A call whose second line is missing ended in nobody knows
// what. Check asks whether all calls on a slot can be put in one order, each
// between its two lines, in which at most one claim is live, fences only grow,
// and only owners act (P1, P2, P3). Time is judged honestly: a deadline lies
// somewhere in the window of the call that set it, so expiry may be seen as soon
// as it can have passed, and must be seen once it surely has.
package history
