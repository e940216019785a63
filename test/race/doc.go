// Package race drives many processes of the real binary at once, and kills some
// of them with SIGKILL: at named points (built with the tag oneslot_hooks) and
// at any moment. What it asserts comes from the workers' own journal and from
// /proc, not from what oneslot says.
//
// Each race has a twin with a gate that only peeks, or a store that is wrong:
// it has to be caught.
//
//	ONESLOT_ROUNDS   rounds of the crash test, each with two kills at named points (8), and
//	                 of the race for reservations (12)
//	ONESLOT_OPS      calls in the recorded history (5000)
//	ONESLOT_SEED     repeats the choices of an earlier test; the system's timing is not repeated
package race
