// Package two puts the daemon beside a foreign dispatcher, for real: a monitor that
// knows nothing of oneslot starts systemd units (or containers) on a timer for the
// same pull requests that signed webhook deliveries wish work for. The manager, the
// bus and the engine are real ones; the workers of both sides write one journal, and
// overlaps are computed from that, not from what oneslot says.
//
// The twin runs the same without a gate: it has to be caught.
//
//	ONESLOT_ROUNDS   rounds, each with one delivery for every pull request (10)
//	ONESLOT_SEED     repeats the offsets of an earlier test; the system's timing is not repeated
package two
