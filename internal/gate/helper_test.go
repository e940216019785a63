package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// The tests' own binary is the program that holds units.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == gate.HoldUnitVerb {
		os.Exit(holdUnit(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func holdUnit(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run, err := gate.ParseHoldUnit(args)
	if err == nil {
		err = gate.HoldUnit(ctx, run)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func ref(t testing.TB, s string) slot.Ref {
	t.Helper()
	r, err := slot.ParseCanonical(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t testing.TB) func(g gate.Gate, err error) gate.Gate {
	return func(g gate.Gate, err error) gate.Gate {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

func newClock() *clock.Manual {
	return clock.NewManual(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))
}

// fake is a gate that does as it is told.
type fake struct {
	name string
	ask  func(ctx context.Context, a gate.Ask) gate.Answer
}

func (f fake) Type() string                                    { return f.name }
func (f fake) Ask(ctx context.Context, a gate.Ask) gate.Answer { return f.ask(ctx, a) }
func says(name string, v slot.Verdict, detail string) gate.Gate {
	return fake{name, func(context.Context, gate.Ask) gate.Answer {
		return gate.Answer{Verdict: v, Reason: name + ": so", Detail: detail}
	}}
}

// memory is a Memory in memory.
type memory struct {
	mu    sync.Mutex
	since map[string]time.Time
	err   error
}

func (m *memory) Failed(_ context.Context, name string, ref slot.Ref, now time.Time) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since == nil {
		m.since = map[string]time.Time{}
	}
	key := name + " " + ref.String()
	if _, ok := m.since[key]; !ok {
		m.since[key] = now
	}
	return m.since[key], m.err
}

func (m *memory) Answered(_ context.Context, name string, ref slot.Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.since, name+" "+ref.String())
	return m.err
}

var errNoMemory = errors.New("the memory is gone")

// eventually polls until ok, or fails.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time: " + what)
		}
	}
}

func wants(t testing.TB, got gate.Answer, verdict slot.Verdict, words string) {
	t.Helper()
	if got.Verdict != verdict || !strings.Contains(got.Reason+" | "+got.Detail, words) {
		t.Errorf("got %s: %q %q; want %s with %q", got.Verdict, got.Reason, got.Detail, verdict, words)
	}
}
