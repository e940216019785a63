// Package cli is the command line: one file per verb, each a thin shell that
// reads flags, calls what does the work, and prints. Exit codes are decided in
// exit.go alone. Results go to standard output, messages to standard error.
package cli
