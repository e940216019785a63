package claimtest

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
)

var _ Clock = (*clock.Manual)(nil)

func morning() *clock.Manual { return clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)) }

func memory(opt Options, declare func(*claim.Capabilities)) (*Memory, Harness) {
	c := morning()
	m := NewMemory(c, opt)
	declare(&m.caps)
	h := Harness{Open: func() (Store, error) { return m.Open(), nil }, Clock: c}
	return m, h
}

// The reference passes with whatever it declares, so each branch of the suite
// is walked by something that is right.
func TestMemory(t *testing.T) {
	for name, declare := range map[string]func(*claim.Capabilities){
		"AsItIs":    func(*claim.Capabilities) {},
		"NoNotify":  func(c *claim.Capabilities) { c.Notifies = false },
		"NoLimits":  func(c *claim.Capabilities) { c.Limits = false },
		"NoCovers":  func(c *claim.Capabilities) { c.Covers = false },
		"WallTime":  func(c *claim.Capabilities) { c.BootTime = false },
		"CoarseAsS": func(c *claim.Capabilities) { c.Tick = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			Run(t, func(t testing.TB, opt Options) Harness {
				_, h := memory(opt, declare)
				return h
			})
		})
	}
}

func TestMemory_Interleaved(t *testing.T) {
	Interleave(t, func(t testing.TB, opt Options) Harness {
		_, h := memory(opt, func(*claim.Capabilities) {})
		return h
	})
}

// A server that hosts share: boots are not its own.
func TestMemory_AsAServer(t *testing.T) {
	Run(t, func(t testing.TB, opt Options) Harness {
		m, h := memory(opt, func(c *claim.Capabilities) { c.CrossHost, c.BootTime = true, false })
		h.Far = func() (Store, error) {
			far := m.Open()
			far.host = "another-boot"
			return far, nil
		}
		return h
	})
}

// A store that lives in one process: what it knew is gone with its last handle.
func TestMemory_OfOneProcess(t *testing.T) {
	Run(t, func(t testing.TB, opt Options) Harness {
		c, open := morning(), 0
		var m *Memory
		return Harness{Clock: c, Open: func() (Store, error) {
			if open == 0 {
				m = NewMemory(c, opt)
				m.caps.CrossProcess = false
			}
			open++
			h := m.Open()
			return volatile{h, sync.OnceFunc(func() { open-- })}, nil
		}}
	})
}

type volatile struct {
	*MemoryHandle
	last func()
}

func (v volatile) Close() error {
	v.last()
	return v.MemoryHandle.Close()
}

// A server whose clock is nobody's to move: the suite sleeps, here in a bubble
// of its own time.
func TestMemory_InRealTime(t *testing.T) {
	run(bubbled{t}, func(t testing.TB, opt Options) Harness {
		m := NewMemory(real{}, opt)
		m.caps.BootTime = false
		return Harness{BootID: real{}.BootID(), Open: func() (Store, error) { return m.Open(), nil }}
	})
}

type bubbled struct{ *testing.T }

func (b bubbled) sub(name string, f func(runner)) {
	b.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(bubbled{t}) })
	})
}

type real struct{}

func (real) Boot() time.Duration  { return time.Duration(time.Now().UnixNano()) }
func (real) Awake() time.Duration { return time.Duration(time.Now().UnixNano()) }
func (real) Wall() time.Time      { return time.Now() }
func (real) BootID() string       { return "boot-of-a-bubble" }
