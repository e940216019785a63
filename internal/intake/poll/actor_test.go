package poll_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/intake/poll"
	"github.com/oneslot/oneslot/internal/slot"
)

// actors is a sink that keeps who did what.
type actors struct {
	poll.Sink
	list []string
}

func (a *actors) Accept(ctx context.Context, found []poll.Found) error {
	for _, f := range found {
		a.list = append(a.list, string(f.Kind)+" by "+f.Facts.Actor)
	}
	return a.Sink.Accept(ctx, found)
}

// C42: over the real clients, what was done to a thread names who did it.
func TestC42_ActorsOverEachForge(t *testing.T) {
	everyForge(t, func(t *testing.T, r *rig) {
		const path = "octo/hello"
		sink := &actors{Sink: r}
		r.o.Sink = sink
		r.o.Wants = func(k slot.EventKind) bool {
			return slices.Contains([]slot.EventKind{slot.Closed, slot.Reopened, slot.Merged, slot.Labeled}, k)
		}
		r.AddRepo(path)
		for _, login := range []string{"ann", "bob", "guest"} {
			r.AddUser(forgetest.User{Login: login})
		}
		closed, reopened, merged := r.AddIssue(path, "ann", "one", ""), r.AddIssue(path, "ann", "two", ""), r.AddPull(path, "ann", "three", "topic")
		r.Close(reopened, "ann")
		r.pass(time.Hour)
		r.start()
		r.tick(3)
		r.Label(closed, "x", true, "bob")
		r.tick(1)
		r.Close(closed, "guest")
		r.Reopen(reopened, "guest")
		r.Merge(merged, "bob")
		r.tick(2)
		slices.Sort(sink.list)
		if got := strings.Join(slices.Compact(sink.list), ", "); got != "closed by guest, labeled by bob, merged by bob, reopened by guest" {
			t.Error(got)
		}
	})
}
