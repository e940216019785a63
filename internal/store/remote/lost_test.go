package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/slot"
)

// deaf stands before a server. Of each step it passes the first sending on and keeps
// the answer for itself: the step was taken, and nobody is told.
type deaf struct {
	next http.Handler
	mu   sync.Mutex
	told map[string]bool
}

var onClaims = regexp.MustCompile(`^/api/v1/(claims|runs|line)\b`)

func (d *deaf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || !onClaims.MatchString(r.URL.Path) {
		d.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	d.next.ServeHTTP(answer, r)
	d.mu.Lock()
	name := r.URL.Path + string(body)
	first := !d.told[name]
	d.told[name] = true
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

// asksOnce is a caller of Park, which is not sent again: once it is done the key is
// void. Told nothing, it looks.
type asksOnce struct{ claimtest.Store }

func (s asksOnce) Park(ctx context.Context, k claim.Key, out slot.Outcome) (slot.Claim, error) {
	_, before := s.parked(ctx, k)
	c, err := s.Store.Park(ctx, k, out)
	if !errors.Is(err, slot.ErrUnknown) {
		return c, err
	}
	if c, now := s.parked(ctx, k); now && !before {
		return c, nil
	}
	return s.Store.Park(ctx, k, out)
}

func (s asksOnce) parked(ctx context.Context, k claim.Key) (slot.Claim, bool) {
	live, _ := s.Live(ctx) // a fault is no yes
	i := slices.IndexFunc(live, func(c slot.Claim) bool { return c.ID == k.Claim && c.Kind == slot.Waiting })
	if i < 0 {
		return slot.Claim{}, false
	}
	return live[i], true
}

// The answer to each step on a claim, a run or a line is lost once, after the step
// was committed. What the client sends again does what it does once; a refusal that
// was not heard is recorded twice, so that what is counted is not judged here.
func TestContract_AnswersLostAfterTheCommit(t *testing.T) {
	claimtest.Run(t, func(t testing.TB, opt claimtest.Options) claimtest.Harness {
		clk := morning()
		h := handler(t, filepath.Join(t.TempDir(), "oneslot.db"), clk, opt.WaitingMax)
		if !strings.Contains(t.Name(), "P10/") {
			h = &deaf{told: map[string]bool{}, next: h}
		}
		s := serveHandler(t, "unix", h)
		return claimtest.Harness{
			Clock: clk,
			Open:  func() (claimtest.Store, error) { return asksOnce{s.dial(t, clk.BootID())}, nil },
			Far:   func() (claimtest.Store, error) { return asksOnce{s.dial(t, "another-boot")}, nil },
		}
	})
}
