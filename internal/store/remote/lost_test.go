package remote_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/slot"
)

// deaf stands before a server. Of each request that writes, it passes the first
// sending on and keeps the answer for itself: the step was taken, and nobody is told.
type deaf struct {
	next http.Handler
	mu   sync.Mutex
	told map[string]bool
	lost int
}

func (d *deaf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		d.next.ServeHTTP(w, r)
		return
	}
	var body strings.Builder
	r.Body = tee(r.Body, &body)
	answer := httptest.NewRecorder()
	d.next.ServeHTTP(answer, r)
	d.mu.Lock()
	name := r.URL.Path + body.String()
	first := !d.told[name]
	d.told[name] = true
	if first {
		d.lost++
	}
	d.mu.Unlock()
	if first {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	for k, v := range answer.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes()) //nolint:errcheck // the client tells
}

// sendsAgain is a caller that asks again, with the same key, when it was not told
// what became of a step: as the contract lets everybody do.
type sendsAgain struct{ claimtest.Store }

func twice[T any](f func() (T, error)) (T, error) {
	v, err := f()
	if errors.Is(err, slot.ErrUnknown) {
		v, err = f()
	}
	return v, err
}

func (s sendsAgain) Park(ctx context.Context, k claim.Key, out slot.Outcome) (slot.Claim, error) {
	c, err := s.Store.Park(ctx, k, out)
	if !errors.Is(err, slot.ErrUnknown) {
		return c, err
	}
	// The key is void once it was done: what became of it is looked up.
	ref, e := refOf(ctx, s.Store, k)
	if e != nil || ref.Kind != slot.Waiting {
		return s.Store.Park(ctx, k, out)
	}
	return ref, nil
}

func refOf(ctx context.Context, s claimtest.Store, k claim.Key) (slot.Claim, error) {
	live, err := s.Live(ctx)
	for _, c := range live {
		if c.ID == k.Claim {
			return c, err
		}
	}
	return slot.Claim{}, err
}

// The answer to each step is lost once, after the step was committed: the client
// sends again what is harmless, and whoever asks for the rest is told unknown. All
// promises hold but those about counts of decisions, which a lost answer to Note or
// to a refusal makes larger: those are told apart by name.
func TestContract_AnswersLostAfterTheCommit(t *testing.T) {
	claimtest.Run(t, func(t testing.TB, opt claimtest.Options) claimtest.Harness {
		for _, counts := range []string{"P10/", "C22/", "P9/AForcedClaimPasses"} {
			if strings.Contains(t.Name(), counts) {
				return direct(t, opt)
			}
		}
		clk := morning()
		d := &deaf{told: map[string]bool{}, next: handler(t, filepath.Join(t.TempDir(), "oneslot.db"), clk, opt.WaitingMax)}
		s := serveHandler(t, "unix", d)
		return claimtest.Harness{
			Clock: clk,
			Open:  func() (claimtest.Store, error) { return sendsAgain{s.dial(t, clk.BootID())}, nil },
			Far:   func() (claimtest.Store, error) { return sendsAgain{s.dial(t, "another-boot")}, nil },
		}
	})
}

var _ = os.Getuid
