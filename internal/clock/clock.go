package clock

import "time"

// Clock tells the time. The real one is System; tests inject their own.
type Clock interface {
	// Boot is the time since the machine started, suspend included. Only
	// differences and order within one boot mean anything.
	Boot() time.Duration
	// Awake is the same without the time spent in suspend.
	Awake() time.Duration
	// Wall is the calendar time.
	Wall() time.Time
	// BootID names this boot of the machine.
	BootID() string
}
