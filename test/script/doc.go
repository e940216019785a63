// Package script drives the real binary: one txtar script per promise or case,
// each with a home and a store of its own. Scripts use the commands of
// testscript, and those in commands_test.go.
package script
