package claimtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Memory is the reference store: the machine with its disk. Its handles stand
// for processes, so what they record outlives them; one mutex makes every step
// atomic. Tests of other packages may use it as a real store.
type Memory struct {
	clock clock.Clock
	opt   Options
	caps  claim.Capabilities

	mu        sync.Mutex
	boot      string // the boot of the last open
	slots     map[slot.Ref]*memSlot
	byClaim   map[string]*memSlot
	runs      []*slot.Run // oldest first
	decisions []slot.Decision
	holds     map[string]slot.Hold
	wakes     map[string]chan struct{} // by ticket
	covers    memCovers
}

// memSlot is one slot with its newest record, which stays when the claim ends.
type memSlot struct {
	ref    slot.Ref
	newest *memClaim
	line   []claim.Ticket
	// moved is when the line or its reason to wait last changed; the turn of
	// the head of a free slot counts from here.
	moved time.Duration
}

type memClaim struct {
	slot.Claim
	token    []byte        // hash; nil is nobody's
	boot     string        // in which the deadline counts
	deadline time.Duration // by Memory.now
	startBy  time.Duration // bounds Starting however often it is renewed
	lapse    time.Time     // of a waiting claim, by wall clock
	begun    bool          // Start was taken; false for ever if detached
}

// NewMemory makes an empty store. Zero options are the product's own.
func NewMemory(c clock.Clock, opt Options) *Memory {
	return &Memory{
		clock: c, opt: opt.filled(), boot: c.BootID(),
		caps: claim.Capabilities{
			Name: "memory", CrossProcess: true, Notifies: true, BootTime: true, Limits: true, Covers: true, Tick: time.Millisecond,
		},
		covers: newCovers(),
		slots:  map[slot.Ref]*memSlot{}, byClaim: map[string]*memSlot{},
		holds: map[string]slot.Hold{}, wakes: map[string]chan struct{}{},
	}
}

// Open gives a handle, as one process has it. Detached claims of an earlier
// boot get one full time to live from here.
func (m *Memory) Open() *MemoryHandle {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := m.clock.BootID(); m.caps.BootTime && id != m.boot {
		m.boot = id
		for _, s := range m.slots {
			s.moved = m.now()
			if c := s.newest; c != nil && c.Kind == slot.Detached && !c.Bound {
				c.boot, c.deadline = id, m.now()+c.TTL
			}
		}
	}
	return &MemoryHandle{m: m, host: m.clock.BootID()}
}

// now is the time that deadlines are judged by, as far as the ticks tell.
func (m *Memory) now() time.Duration {
	t := m.clock.Boot()
	if !m.caps.BootTime {
		t = time.Duration(m.clock.Wall().UnixNano())
	}
	return t.Truncate(m.caps.Tick)
}

func (m *Memory) wall() time.Time { return m.clock.Wall().UTC() }

// dead says that the claim's holder cannot live: it was of an earlier boot.
func (m *Memory) dead(c *memClaim) bool {
	return m.caps.BootTime && c.Kind != slot.Waiting && c.boot != m.clock.BootID()
}

// left is the time to the claim's deadline.
func (m *Memory) left(c *memClaim) time.Duration {
	switch {
	case c.Ended || m.dead(c):
		return 0
	case c.Kind == slot.Waiting:
		return c.lapse.Sub(m.wall())
	}
	return c.deadline - m.now()
}

// view is the public record as of now.
func (m *Memory) view(c *memClaim) slot.Claim {
	v := c.Claim
	v.Left = m.left(c)
	if c.Kind != slot.Waiting && !c.Ended {
		v.ExpiresAt = m.wall().Add(v.Left)
	}
	return v
}

// MemoryHandle is one process's view of a Memory.
type MemoryHandle struct {
	m      *Memory
	host   string // the boot id of the host that this handle is on
	closed bool
}

var _ Store = (*MemoryHandle)(nil)

var errClosed = errors.New("the store is closed")

// step runs f as one atomic step, or answers unknown without taking it.
func (h *MemoryHandle) step(ctx context.Context, op string, f func() error) error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	err := ctx.Err()
	if h.closed {
		err = errClosed
	}
	if err != nil {
		return &slot.UnknownError{Op: op, Store: h.m.caps.Name, Err: err}
	}
	return f()
}

// Capabilities declares what the store can do.
func (h *MemoryHandle) Capabilities() claim.Capabilities { return h.m.caps }

// Close ends the handle; what it recorded stays.
func (h *MemoryHandle) Close() error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	h.closed = true
	return nil
}

// Look reads one slot.
func (h *MemoryHandle) Look(ctx context.Context, ref slot.Ref) (claim.Slot, error) {
	out := claim.Slot{Ref: ref}
	err := h.step(ctx, "look", func() error {
		out.Hold = h.m.held(ref)
		if s := h.m.slots[ref]; s != nil {
			out.Waiting = len(s.line)
			for i, p := range s.line[:min(len(s.line), claim.LineMax)] {
				if i > 0 || !h.m.turnOver(s) {
					out.Line = append(out.Line, p.Process)
				}
			}
			if c := h.m.holderOf(s).newest; c != nil {
				v := h.m.view(c)
				out.Newest = &v
			}
		}
		return nil
	})
	return out, err
}

// Live lists the claims that are not ended, by ref.
func (h *MemoryHandle) Live(ctx context.Context) ([]slot.Claim, error) {
	var out []slot.Claim
	err := h.step(ctx, "live", func() error {
		for _, s := range h.m.slots {
			if s.newest != nil && !s.newest.Ended {
				out = append(out, h.m.view(s.newest))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b slot.Claim) int { return a.Since.Compare(b.Since) })
	return out, err
}
