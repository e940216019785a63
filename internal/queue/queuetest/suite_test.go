package queuetest

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
)

var _ Clock = (*clock.Manual)(nil)

func morning() *clock.Manual { return clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)) }

func TestMemory(t *testing.T) {
	Run(t, func(testing.TB) Harness {
		c := morning()
		return Harness{Store: NewMemory(c), Clock: c}
	})
}

func TestMemory_Interleaved(t *testing.T) {
	Interleave(t, func(testing.TB) Harness {
		c := morning()
		return Harness{Store: NewMemory(c), Clock: c}
	})
}

// The suite is worth what it catches: each wrong store must fail it, in a test
// that names the promise it breaks, and nothing of it may fail the right one.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range []struct {
		name   string
		wrong  func(*Memory) queue.Store
		caught []string // among others
	}{
		{"Nothing", func(m *Memory) queue.Store { return m }, nil},
		{"SettlesAnothersRun", func(m *Memory) queue.Store { return anybodys{m} }, []string{"Settle/OnlyTheItemsOwnRun"}},
		{"LosesWhatCameDuringTheRun", func(m *Memory) queue.Store { return sweeping{m} }, []string{"P5/OneFollowUpForAllThatCame"}},
		{"NotesTheIdBeforeTheEvent", func(m *Memory) queue.Store { return &hasty{Memory: m, seen: map[string]bool{}} },
			[]string{"C25/AnUnwantedDeliveryIsJudgedAnew", "Repeat/WhatWasSkippedIsJudgedAnew"}},
		{"ADeferralIsAFailure", func(m *Memory) queue.Store { return costly{m} }, []string{"P6/DeferringIsFree"}},
		{"AConditionIsAlwaysNew", func(m *Memory) queue.Store { return eager{m} },
			[]string{"StillTrue/SeenToAgainAfterAWhile", "StillTrue/AfterAllAttemptsItIsDead"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			run(r, func(testing.TB) Harness {
				c := morning()
				return Harness{Store: tt.wrong(NewMemory(c)), Clock: c}
			})
			failed := r.failures()
			t.Logf("caught by %s", strings.Join(failed, ", "))
			if len(tt.caught) == 0 && len(failed) > 0 {
				t.Errorf("the right store fails %v", failed)
			}
			for _, want := range tt.caught {
				if !slices.Contains(failed, want) {
					t.Errorf("%s lets it pass", want)
				}
			}
		})
	}
}

// recorder is a testing.TB that notes failures instead of having them.
type recorder struct {
	testing.TB
	name   string
	mu     sync.Mutex
	failed []string
}

func (r *recorder) sub(name string, f func(runner)) {
	s := &recorder{TB: r.TB, name: name}
	done := make(chan struct{})
	go func() { // as testing does, so that Fatalf can end it
		defer close(done)
		f(s)
	}()
	<-done
	r.failed = append(r.failed, s.failures()...)
}

func (r *recorder) failures() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.failed)
}

func (r *recorder) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.failed, r.name) {
		r.failed = append(r.failed, r.name)
	}
}

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return r.name }
func (r *recorder) Error(...any)          { r.fail() }
func (r *recorder) Errorf(string, ...any) { r.fail() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) FailNow()              { r.fail(); runtime.Goexit() }
