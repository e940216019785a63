package race

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// A worker ends while its child is about to start somebody in a session of his
// own, and the child ends while we look. When the run is over he is gone as well.
func TestNobodyEscapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainProgram)
	s := seed(t)
	runs := 3 * number(t, "ONESLOT_ROUNDS", 8)
	t.Logf("%d runs on each slot; ONESLOT_SEED=%d", runs, s)
	var slots sync.WaitGroup
	for i, r := range refs(t, 2) {
		rnd := rand.New(rand.NewPCG(s, uint64(i)))
		slots.Go(func() {
			for range runs {
				w.want(0, run(r, work(strayed, time.Duration(rnd.Int64N(int64(60*time.Millisecond)))), "--ttl", "1s"))
				left, err := processes(func(env map[string]string) bool {
					return env["ONESLOT_SLUG"] == r.Slug() && env[worldVar] == w.dir
				})
				if err != nil || len(left) > 0 {
					t.Errorf("left behind: %v (%v)", left, err)
				}
			}
		})
	}
	slots.Wait()
	w.clean()
}
