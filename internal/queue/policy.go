package queue

import (
	"time"
)

// Policy is what a work item goes by. It is a copy of what the rule said when the
// item was last woken or begun, so that a run can be settled by a process that has
// no configuration.
type Policy struct {
	// Rule names the rule; empty is [worker].
	Rule     string `json:"rule"`
	Priority int    `json:"priority,omitempty"`
	// Attempts is how many runs on unchanged facts may fail, or end well and leave a
	// condition as it was; from 1.
	Attempts int `json:"attempts"`
	// The n-th retry waits BackoffMin * 2^(n-1), at most BackoffMax.
	BackoffMin time.Duration `json:"backoff_min"`
	BackoffMax time.Duration `json:"backoff_max"`
	// A burst has calmed down when nothing came for Quiet, or MaxQuiet after its
	// first event. Zero: at once.
	Quiet    time.Duration `json:"quiet"`
	MaxQuiet time.Duration `json:"max_quiet"`
	// Again is how long after a run that ended well a condition is seen to again that
	// is still true at the same head. Zero: never.
	Again time.Duration `json:"again,omitempty"`
	// Run is a command given with the wish itself instead of a rule's.
	Run []string `json:"run,omitempty"`
	Dir string   `json:"dir,omitempty"` // and its working folder
}

// How long a worker's "later" waits if it names no time: the first, doubled each
// time up to the longest.
const (
	LaterMin = 5 * time.Minute
	LaterMax = time.Hour
)

// UnspentWait is when work is looked at again whose start something else was in
// the way of.
const UnspentWait = 10 * time.Second

// backoff is first * 2^(n-1), at most most; n counts from 1.
func backoff(n int, first, most time.Duration) time.Duration {
	d := first
	for ; n > 1 && d < most; n-- {
		d *= 2
	}
	return min(d, most)
}
