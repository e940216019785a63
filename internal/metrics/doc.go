// Package metrics counts what the daemon does, for Prometheus. Labels have few
// values: no ref, run or login is ever one.
//
// It writes the text itself: the libraries for it add a millisecond and more to the
// start of each verb.
package metrics
