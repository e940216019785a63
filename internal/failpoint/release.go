//go:build !oneslot_hooks

package failpoint

import "github.com/oneslot/oneslot/internal/clock"

// Hit marks a moment. It does nothing in this build.
func Hit(name string) {}

// Clock returns c. It does nothing in this build.
func Clock(c clock.Clock) clock.Clock { return c }
