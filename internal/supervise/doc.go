// Package supervise looks after one run, from its granted claim to its release:
// what `oneslot run` does once it holds the slot.
//
//	folder, registry ─ clean ─ Start ─ fork ─ renew … ─ tree gone ─ outcome ─ release
//
// Each arrow may be the last thing that this process does. Whatever it had then
// is found again by the next one on this host: the claim's commit names run and
// supervisor before anything is forked, the run's folder is registered before
// the fork, and a run is closed only after its tree is gone. Cleaner is that
// next one. What the worker is told is made ready while the store takes the step to
// running: by then the run can be found.
//
// Decisions about time are in keeper, which is pure; the loop in Run carries
// them out. A run whose claim somebody could take without seeing this host also
// has a warden, which ends the tree if we cannot.
package supervise
