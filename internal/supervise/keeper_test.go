package supervise

import (
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

const second = time.Second

// kept is a keeper on a clock of its own, with a lease of 60 s just granted.
func kept(warden bool) (*keeper, *clock.Manual) {
	c := clock.NewManual(time.Unix(0, 0))
	k := &keeper{grace: 10 * second, warden: warden, slept: c.Boot() - c.Awake()}
	k.granted(c.Boot(), 60*second)
	return k, c
}

func (k *keeper) look(c clock.Clock) order {
	k.clocks(c.Boot(), c.Awake())
	return k.next(c.Boot())
}

func TestKeeperRenewsAtAThird(t *testing.T) {
	k, c := kept(false)
	c.Advance(19 * second)
	if o := k.look(c); o.renew || o.wake != c.Boot()+second {
		t.Errorf("at 19 s: %+v", o)
	}
	c.Advance(second)
	if o := k.look(c); !o.renew {
		t.Errorf("at 20 s: %+v", o)
	}
	k.asked()
	if o := k.look(c); o.renew {
		t.Error("asked twice")
	}
	// The lease counts from before the question, however long the answer took.
	sent := c.Boot()
	c.Advance(15 * second)
	k.granted(sent, 60*second)
	if k.deadline != sent+60*second || k.renewAt != sent+20*second {
		t.Errorf("deadline %v, renewal %v after %v", k.deadline, k.renewAt, sent)
	}
}

// "Look at the store now" counts when it comes while an older look is on its way.
func TestKeeperHurriedWhileAsking(t *testing.T) {
	for name, answer := range map[string]func(k *keeper){
		"granted": func(k *keeper) { k.granted(20*second, 60*second) },
		"failed":  func(k *keeper) { k.failed(21 * second) },
	} {
		k := &keeper{grace: 10 * second}
		k.granted(0, 60*second)
		k.asked()
		k.hurry(21 * second)
		answer(k)
		if !k.next(21 * second).renew {
			t.Errorf("%s: the wish was forgotten", name)
		}
		k.asked()
		k.granted(21*second, 60*second)
		if k.next(22 * second).renew {
			t.Errorf("%s: the wish was not forgotten when it was done", name)
		}
	}
}

// A store that was replaced: who asks at its address does not see the claim, so
// the tree is ended in time, unless the store comes back.
func TestKeeperOfAMovedStore(t *testing.T) {
	k, _ := kept(false)
	start := k.deadline - 60*second
	k.failed(start + 20*second)
	k.moved = true
	if o := k.next(start + 48*second); o.press != atWork || o.wake > start+49*second {
		t.Errorf("early: %+v", o)
	}
	k.granted(start+48*second, 60*second)
	if o := k.next(start + 59*second); o.press != atWork {
		t.Errorf("when the store is back: %+v", o)
	}
	k.moved = true
	if o := k.next(start + (48+49)*second); o.press != termed || k.end == nil || k.end.code != exitLost || !strings.Contains(k.end.reason, "not at its address") {
		t.Errorf("in time: %+v, %+v", o, k.end)
	}
	if o := k.next(start + (48+59)*second); o.press != killed {
		t.Errorf("before the deadline: %+v", o)
	}
}

// P11: with a warden the tree is ended before the claim expires, without one a
// store that fails ends no work.
func TestP11_KeeperThatCannotRenew(t *testing.T) {
	for _, warden := range []bool{false, true} {
		k, c := kept(warden)
		firsts := 0
		at := map[press]time.Duration{}
		for now := time.Duration(0); now < 70*second; now += 100 * time.Millisecond {
			o := k.look(c)
			if _, ok := at[o.press]; !ok {
				at[o.press] = now
			}
			if o.renew {
				k.asked()
				if k.failed(c.Boot()) {
					firsts++
				}
			}
			c.Advance(100 * time.Millisecond)
		}
		if firsts != 1 {
			t.Errorf("warden %v: told %d times", warden, firsts)
		}
		if !warden {
			if len(at) != 1 {
				t.Errorf("without a warden: %v", at)
			}
			continue
		}
		if at[termed] != 49*second || at[killed] != 59*second {
			t.Errorf("TERM at %v, KILL at %v", at[termed], at[killed])
		}
		if k.end == nil || k.end.result != slot.Lost {
			t.Errorf("end %+v", k.end)
		}
	}
}

func TestKeeperEndings(t *testing.T) {
	stop := ending{result: slot.Stopped, code: 130}
	t.Run("a stop has the grace", func(t *testing.T) {
		k, c := kept(false)
		k.stop(c.Boot(), stop)
		if o := k.look(c); o.press != termed {
			t.Errorf("%+v", o)
		}
		c.Advance(10 * second)
		if o := k.look(c); o.press != killed {
			t.Errorf("%+v", o)
		}
		c.Advance(11 * second)
		if o := k.look(c); !o.renew {
			t.Error("not renewed while its tree is ended")
		}
	})
	t.Run("a second one kills, the first reason stays", func(t *testing.T) {
		k, c := kept(false)
		k.stop(c.Boot(), stop)
		k.stopNow(c.Boot(), ending{result: slot.Failed})
		if o := k.look(c); o.press != killed || k.end.code != 130 {
			t.Errorf("%+v, %+v", o, k.end)
		}
	})
	t.Run("its time is up", func(t *testing.T) {
		k, c := kept(false)
		k.timeout = c.Boot() + 500*time.Millisecond
		if o := k.look(c); o.press != atWork || o.wake != k.timeout {
			t.Errorf("%+v", o)
		}
		c.Advance(500 * time.Millisecond)
		if o := k.look(c); o.press != termed || k.end.code != exitTimeout {
			t.Errorf("%+v", o)
		}
	})
	t.Run("lost kills at once and renews no more", func(t *testing.T) {
		k, c := kept(true)
		k.stop(c.Boot(), stop)
		k.lose(c.Boot(), "taken")
		c.Advance(30 * second)
		if o := k.look(c); o.press != killed || o.renew || k.end.code != exitLost {
			t.Errorf("%+v", o)
		}
	})
}

// A machine that slept: the tree is frozen until the claim is known to be ours.
func TestKeeperSuspend(t *testing.T) {
	for _, c := range []struct {
		name   string
		warden bool
		answer func(k *keeper, now time.Duration)
		want   press
	}{
		{"renewed", true, func(k *keeper, now time.Duration) { k.granted(now, 60*second) }, atWork},
		{"renewed, no warden", false, func(k *keeper, now time.Duration) { k.granted(now, 60*second) }, atWork},
		{"lost", true, func(k *keeper, now time.Duration) { k.lose(now, "taken") }, killed},
		{"no answer", true, func(k *keeper, now time.Duration) { k.failed(now) }, frozen},
		{"no answer, no warden", false, func(k *keeper, now time.Duration) { k.failed(now) }, atWork},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, m := kept(c.warden)
			m.Suspend(10 * time.Minute)
			if o := k.look(m); o.press != frozen || !o.renew {
				t.Fatalf("on waking: %+v", o)
			}
			k.asked()
			m.Advance(time.Millisecond)
			c.answer(k, m.Boot())
			if o := k.look(m); o.press != c.want {
				t.Errorf("%+v, want %v", o, c.want)
			}
			if c.want != frozen {
				return
			}
			m.Advance(20 * second)
			if o := k.look(m); o.press != killed || k.end == nil {
				t.Errorf("when the patience is over: %+v", o)
			}
		})
	}
}

// The bounds of the settings leave room for every step, in their order.
func TestKeeperOrderOfSteps(t *testing.T) {
	for ttl := slot.MinTTL; ttl < time.Hour; ttl += ttl / 3 {
		k := &keeper{grace: ttl / 3, warden: true}
		k.granted(0, ttl)
		term, kill := k.deadline-k.grace-k.margin(), k.deadline-k.margin()
		if !(k.renewAt < term && term < kill && kill < k.deadline) {
			t.Errorf("ttl %v: renewal %v, TERM %v, KILL %v", ttl, k.renewAt, term, kill)
		}
	}
}
