package proc

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// pollEvery is how often a process is looked at where the kernel does not tell
// of its end.
const pollEvery = 200 * time.Millisecond

// Watch closes gone when the process p has ended; a zombie has. If it has ended
// already, gone is closed at once. A watch takes no thread, and one file where
// the kernel has pidfds.
//
// cancel ends the watch, and gone may then never be closed; it may be called again
// and after the end. The error is slot.ErrUnknown if p cannot be seen from here.
func Watch(p slot.Process) (gone <-chan struct{}, cancel func(), err error) {
	h, err := hold(p)
	if errors.Is(err, os.ErrProcessDone) {
		ended := make(chan struct{})
		close(ended)
		return ended, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	gone, cancel = h.watch()
	return gone, cancel, nil
}

// watch waits for the end of the handle's process, and closes the handle then
// or when cancelled.
func (h *handle) watch() (<-chan struct{}, func()) {
	gone, cancelled := make(chan struct{}), make(chan struct{})
	go func() {
		if h.wait(cancelled) == nil {
			close(gone)
		}
		h.close()
	}()
	return gone, sync.OnceFunc(func() {
		close(cancelled)
		h.close()
	})
}
