package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func TestWorst(t *testing.T) {
	busy, unknown := &slot.BusyError{}, &slot.UnknownError{Err: errors.New("x")}
	denied, fault := fmt.Errorf("%w: x", slot.ErrNotAllowed), errors.New("x")
	for _, c := range []struct {
		errs []error
		want int
	}{
		{nil, exitOK},
		{[]error{nil, nil}, exitOK},
		{[]error{nil, &exitError{exitBusy}, nil}, exitBusy},
		{[]error{unknown, busy}, exitUnknown},
		{[]error{busy, unknown, nil}, exitUnknown},
		{[]error{unknown, denied, busy}, exitNotAllowed},
		{[]error{denied, fault, nil, unknown}, exitInternal},
	} {
		if got := worst(c.errs); got != c.want {
			t.Errorf("worst of %v is %d, want %d", c.errs, got, c.want)
		}
	}
}
