package dispatch

import "time"

// pause is how long nothing is tried after a store refused to be written. It grows
// with each failure in a row: a full disk is not filled with words about it.
type pause struct {
	failures int
	until    time.Duration // boot time
}

const pauseMost = time.Minute

func (p pause) longer(now time.Duration) pause {
	return pause{min(p.failures+1, 6), now + min(time.Second<<p.failures, pauseMost)}
}

// tried takes an item out of hand. One whose steps could not be written is left
// alone for a while, and so are all others, for a shorter one: it is mostly the
// store that is ill, and each try would start a supervisor.
func (d *Dispatcher) tried(item int64, written bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.inHand, item)
	if written {
		delete(d.failing, item)
		d.ill = pause{}
		return
	}
	now := d.Clock.Boot()
	d.failing[item] = d.failing[item].longer(now)
	d.ill = d.ill.longer(now)
}

// resting is how long nothing at all is tried, and until the first item that failed
// is tried again; 0 is for not at all and for none.
func (d *Dispatcher) resting() (all, first time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Clock.Boot()
	for _, p := range d.failing {
		if left := p.until - now; left > 0 && (first == 0 || left < first) {
			first = left
		}
	}
	return max(d.ill.until-now, 0), first
}
