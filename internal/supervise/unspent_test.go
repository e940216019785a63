package supervise

import (
	"errors"
	"fmt"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// P6: a start that others kept from happening spends no attempt; one that failed by
// itself does (C54), and so does a stop, which is no failure at all.
func TestP6_RefusedStartsAreNotSpent(t *testing.T) {
	for _, tt := range []struct {
		refused error
		want    bool
	}{
		{nil, false},
		{&StartError{Code: 127}, false},
		{fmt.Errorf("launch: %w", &StartError{Code: 126}), false},
		{&slot.BusyError{Reason: slot.ReasonUnstopped}, true},
		{&slot.LostError{}, true},
		{&slot.UnknownError{Err: errors.New("disk full")}, true},
	} {
		if got := unspent(tt.refused); got != tt.want {
			t.Errorf("%v: unspent %v; want %v", tt.refused, got, tt.want)
		}
	}
}

// A command that is not found is told with the PATH that was searched, and kept on
// record without it: that is long, and the same for every run.
func TestRecordHasNoPath(t *testing.T) {
	_, err := lookup("no-such-command", t.TempDir(), []string{"PATH=/canary"})
	if err == nil || err.Error() != "command not found: no-such-command (searched PATH=/canary)" {
		t.Errorf("told: %v", err)
	}
	if end := noStart(err); end.reason != "command not found: no-such-command" || end.code != exitNotFound {
		t.Errorf("on record: %+v", end)
	}
}
