// Package forgetest is a forge of its own, in the process of the test: a World of
// repositories, threads and comments, and a face per kind of forge that serves it
// over HTTP as the real one does where it matters. Faults can be set at any time:
// lists that lag, writes that are kept and answered 502, limits, tokens that end.
//
// Run is the contract suite of forge.Client: every client passes it unchanged over
// the face of its own kind.
//
// It is for tests and benchmarks only, and knows no client.
package forgetest
