// Package slot holds the words of oneslot and nothing else: what a ref is, what
// a claim says, what a run and a decision record, and the kinds of refusal.
//
// Every other package speaks in these words. This one imports none of them, and
// does no work: no files, no clocks, no processes.
package slot
