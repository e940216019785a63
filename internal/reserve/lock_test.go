package reserve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// A lock that is not surely ours is never undone: a person may have set it meanwhile.
func TestALockOfAPersonStays(t *testing.T) {
	badGateway := &forge.Error{Op: "lock", Status: 502}
	for name, c := range map[string]struct {
		fault  error
		after  bool          // the lock took effect before its answer failed
		blind  bool          // and the thread could not be read then: as if the process had died
		person bool          // somebody locks it in the hour after
		wait   time.Duration // until the sweep
		locked bool          // in the end
		told   int
	}{
		"refused":                          {fault: forbidden},
		"refused, then a person locks":     {fault: forbidden, person: true, wait: time.Hour, locked: true},
		"refused, a person locks at once":  {fault: forbidden, person: true, locked: true},
		"no answer, not done":              {fault: badGateway},
		"no answer, then a person locks":   {fault: badGateway, person: true, locked: true},
		"no answer, done":                  {fault: badGateway, after: true, wait: time.Hour},
		"nothing known, not done":          {fault: badGateway, blind: true, wait: time.Hour},
		"nothing known, a person locks":    {fault: badGateway, blind: true, person: true, wait: time.Hour, locked: true, told: 1},
		"nothing known, done, ended soon":  {fault: badGateway, blind: true, after: true},
		"nothing known, done, ended later": {fault: badGateway, blind: true, after: true, wait: time.Hour, locked: true, told: 1},
		"done":                             {wait: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThread()
				th.fault = func(_ context.Context, _, op string, after bool) error {
					switch {
					case c.fault == nil:
					case op == "lock" && after == c.after, op == "thread" && c.blind && th.count("lock") > 0:
						return c.fault
					}
					return nil
				}
				var told []Report
				r, _ := won(t, th, "ann", reports(&told), func(o *Options) { o.Lock = true })
				th.fault = nil
				if c.person {
					th.locked = true
				}
				time.Sleep(c.wait)
				if err := again(t, th, r).Tidy(t.Context(), dead); err != nil || records(t, r) != 0 {
					t.Errorf("%v, %d records", err, records(t, r))
				}
				wantBodies(t, th)
				if th.isLocked() != c.locked || len(told) != c.told {
					t.Errorf("locked %v, told %+v", th.isLocked(), told)
				}
			})
		})
	}
}
