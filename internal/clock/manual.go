package clock

import (
	"sync"
	"time"
)

// Manual is a clock that moves only when told to, for tests. It may be used by
// any number of goroutines.
type Manual struct {
	mu          sync.Mutex
	boot, awake time.Duration
	wall        time.Time
	id          string
}

// NewManual returns a machine that was started an hour before wall, under the
// boot id "boot-1".
func NewManual(wall time.Time) *Manual {
	return &Manual{boot: time.Hour, awake: time.Hour, wall: wall, id: "boot-1"}
}

// Advance lets d pass on a machine that is awake.
func (m *Manual) Advance(d time.Duration) { m.move(d, d, d) }

// Suspend lets d pass while the machine sleeps.
func (m *Manual) Suspend(d time.Duration) { m.move(d, 0, d) }

// StepWall sets the calendar forward or, if d is negative, back.
func (m *Manual) StepWall(d time.Duration) { m.move(0, 0, d) }

// Reboot starts the machine anew under another boot id, in no time.
func (m *Manual) Reboot(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot, m.awake, m.id = 0, 0, id
}

func (m *Manual) move(boot, awake, wall time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot += boot
	m.awake += awake
	m.wall = m.wall.Add(wall)
}

// Boot is the time since the last start, suspend included.
func (m *Manual) Boot() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

// Awake is the time since the last start without suspend.
func (m *Manual) Awake() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.awake
}

// Wall is the calendar time.
func (m *Manual) Wall() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall
}

// BootID names the present boot.
func (m *Manual) BootID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id
}
