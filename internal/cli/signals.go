package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ sig syscall.Signal }

func (e *interrupted) Error() string { return "ended by " + e.sig.String() }

// interruptible gives a context that INT, TERM and HUP end, for work that has
// something to clean up. After stop they have their usual effect again; stop
// returns the exit code's error if one of them came.
func interruptible(ctx context.Context) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	sigs := make(chan os.Signal, 1)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(sigs, s)
		}
	}
	go func() {
		select {
		case s := <-sigs:
			if s, ok := s.(syscall.Signal); ok {
				cancel(&interrupted{s})
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() error {
		signal.Stop(sigs)
		defer cancel(nil)
		var by *interrupted
		if errors.As(context.Cause(ctx), &by) {
			return &exitError{128 + int(by.sig)}
		}
		return nil
	}
}

// signalled notes whether a signal that ends us came, without catching it away
// from others who listen. stop ends the noting.
func signalled() (came func() bool, stop func()) {
	sigs := make(chan os.Signal, 1)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(sigs, s)
		}
	}
	return func() bool { return len(sigs) > 0 }, func() { signal.Stop(sigs) }
}
