package supervise

import (
	"errors"

	"github.com/oneslot/oneslot/internal/slot"
)

// State is how a question about a claim was answered.
type State string

const (
	Ours    State = "ours"
	Gone    State = "lost"
	Unclear State = "unknown"
)

// Answer is what the run's socket says about its claim.
type Answer struct {
	State  State  `json:"state"`
	Ref    string `json:"ref,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Fence  int64  `json:"fence,omitempty"`
	Left   int64  `json:"left_ms,omitempty"` // to the deadline, as last granted
	Reason string `json:"reason,omitempty"`
}

// err is the answer as an error: nil for ours.
func (a Answer) err() error {
	switch a.State {
	case Ours:
		return nil
	case Gone:
		return &slot.LostError{Claim: a.Claim, Reason: a.Reason}
	}
	return &slot.UnknownError{Op: "ask the run's supervisor", Store: "the run's socket", Err: errors.New(a.Reason)}
}

// answerTo puts a store's error into an answer.
func answerTo(err error) Answer {
	switch {
	case err == nil:
		return Answer{State: Ours}
	case errors.Is(err, slot.ErrLost):
		return Answer{State: Gone, Reason: err.Error()}
	}
	return Answer{State: Unclear, Reason: err.Error()}
}
