// Package machine takes the machine's own figures: what a synced append, a
// fork and exec, and a Go program that does nothing cost here and now, and how
// much of the machine others are using.
package machine
