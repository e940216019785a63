// Package gate holds the checks between a wish and its start.
//
// A gate answers proceed, defer or skip, or that it could not find out, with a
// reason that begins with the gate's type. A Set asks its gates in order, cheap
// first, and stops at the first that does not let pass. What a gate could not find
// out goes by its on_error, and is part of the evidence either way.
//
// Gates are asked twice: before the claim, where they only save cost and may
// answer from a list read a moment ago, and under the claim, right before the
// start, where they look again.
//
// The gates over Facts read a forge: whether a thread is still open, still failing,
// not landed, nobody else's. One Decide reads each thing once for all of them, and no
// two share a reading.
package gate
