// Package metrics counts what the daemon does, for Prometheus. Labels have few
// values: no ref, run or login is ever one.
package metrics
