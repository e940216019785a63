package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

func notify(state string) { daemon.SdNotify(false, state) } //nolint:errcheck // nobody listens

// watchdog tells systemd that the dispatcher does its rounds.
type watchdog struct{ due atomic.Bool }

// run has a round made every so often, until ctx ends.
func (w *watchdog) run(ctx context.Context, nudge func()) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil || every == 0 {
		return
	}
	tick := time.NewTicker(every / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.due.Store(true)
			nudge()
		}
	}
}

// round is told of each round that was made.
func (w *watchdog) round() {
	if w.due.Swap(false) {
		notify(daemon.SdNotifyWatchdog)
	}
}
