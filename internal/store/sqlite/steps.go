//go:build !oneslot_next && !oneslot_breaking

package sqlite

func nextSteps() []step { return nil }
