// Package bench holds the measurements of oneslot against its own promises of
// speed and size. It is a module of its own, so that what it compares with is
// no dependency of the program.
//
//	cd bench && go run ./cmd/bench              all of them, in about ten minutes
//	cd bench && go run ./cmd/bench -only 3,4    two of them
//
// Every figure stands beside one of the machine's own (a synced append in the
// same folder, a fork and exec of true, an empty Go program), taken in the same
// rounds: the machine's mood cancels out. Linux only, since it reads /proc.
package bench
