package claimtest

import (
	"testing"
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
