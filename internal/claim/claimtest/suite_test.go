package claimtest

import (
	"flag"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/oneslot/oneslot/internal/claim"
)

// The suite is worth what it catches: each wrong store must fail it, in a test
// that names the promise it breaks, and nothing of it may fail the right one.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range []struct {
		name   string
		wrong  func(*MemoryHandle) Store
		caught []string // among others
	}{
		{"Nothing", func(h *MemoryHandle) Store { return h }, nil},
		{"ReadThenWrite", func() func(*MemoryHandle) Store {
			sawFree := make(chan struct{})
			return func(h *MemoryHandle) Store { return readThenWrite{h, sawFree} }
		}(), []string{"P1/OneOfManyGetsAFreeSlot", "C06/ManyClaimersOneList"}},
		{"ReleaseWithoutOwner", func(h *MemoryHandle) Store { return trusting{h} },
			[]string{"P3/AStrangerChangesNothing", "C20/AnOldClaimIsLostForGood"}},
		{"ExpiryForgets", func(h *MemoryHandle) Store { return forgetful{h} },
			[]string{"P2/FencesGrowOverEveryWayToTheSlot", "P3/AnExpiredNewestClaimIsRenewed"}},
		{"CoversInName", func(h *MemoryHandle) Store { return inName{h} }, []string{"C09/ALeadHoldsWhatItCovers", "C09/AllOrNone"}},
		{"Piecemeal", func(h *MemoryHandle) Store { return piecemeal{h} }, []string{"C09/AllOrNone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			run(r, func(t testing.TB, opt Options) Harness {
				m, h := memory(opt, func(*claim.Capabilities) {})
				h.Open = func() (Store, error) { return tt.wrong(m.Open()), nil }
				return h
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

// The random orders find, too, who covers in name only.
func TestInterleaveCatches(t *testing.T) {
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "0s"} {
		was := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		defer flag.Set(name, was) //nolint:errcheck // it was so before
	}
	r := &recorder{TB: t, name: t.Name()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(r, interleaved(t, func(t testing.TB, opt Options) Harness {
			m, h := memory(opt, func(*claim.Capabilities) {})
			h.Open = func() (Store, error) { return inName{m.Open()}, nil }
			return h
		}))
	}()
	<-done
	if len(r.failures()) == 0 {
		t.Error("two hold one slot, and nobody notices")
	}
}

// recorder is a testing.TB that notes failures instead of having them.
type recorder struct {
	testing.TB
	name     string
	mu       sync.Mutex
	failed   []string
	cleanups []func()
}

func (r *recorder) sub(name string, f func(runner)) {
	s := &recorder{TB: r.TB, name: name}
	done := make(chan struct{})
	go func() { // as testing does, so that Fatalf can end it
		defer close(done)
		defer s.cleanup()
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

func (r *recorder) cleanup() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
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
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(...any)          { r.fail() }
func (r *recorder) Errorf(string, ...any) { r.fail() }
func (r *recorder) Fatal(...any)          { r.fail(); runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.fail(); runtime.Goexit() }
func (r *recorder) Fail()                 { r.fail() }
func (r *recorder) FailNow()              { r.fail(); runtime.Goexit() }
func (r *recorder) Failed() bool          { return len(r.failures()) > 0 }
func (r *recorder) Log(...any)            {}
func (r *recorder) Logf(string, ...any)   {}
