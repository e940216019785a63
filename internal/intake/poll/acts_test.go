package poll

import (
	"context"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// chronicle is a fake that tells who did what.
type chronicle struct {
	*fake
	acts []forge.Act
}

func (c *chronicle) Acts(_ context.Context, ref slot.Ref) ([]forge.Act, error) {
	return c.acts, c.call("acts", ref.String())
}

// did notes an act of now.
func (c *chronicle) did(kind slot.EventKind, what string, by forge.Person) {
	c.acts = append(c.acts, forge.Act{Kind: kind, What: what, By: by, At: time.Now().Truncate(time.Second)})
}

// C42: whose word an event is does not hang on the path by which it came: what was set,
// closed and opened again names who did so.
func TestC42_ActsNameTheActor(t *testing.T) {
	guest := forge.Person{Login: "guest"}
	for name, tt := range map[string]struct {
		do   func(b *bench, c *chronicle)
		want string // kind, actor, association
	}{
		"closed": {func(b *bench, c *chronicle) { c.did(slot.Closed, "", guest); b.end(1, forge.Closed) }, "closed guest "},
		"closed by its author": {func(b *bench, c *chronicle) {
			c.did(slot.Closed, "", forge.Person{Login: "Octo"})
			b.end(1, forge.Closed)
		}, "closed Octo member"},
		"merged": {func(b *bench, c *chronicle) { c.did(slot.Merged, "", guest); b.end(2, forge.Merged) }, "merged guest "},
		"reopened": {func(b *bench, c *chronicle) {
			c.did(slot.Reopened, "", guest)
			b.edit(ref(4), func(t *forge.Thread) { t.State = forge.Open })
		}, "reopened guest "},
		"labelled": {func(b *bench, c *chronicle) {
			c.did(slot.Labeled, "go", guest)
			b.edit(ref(1), func(t *forge.Thread) { t.Labels = []string{"go"} })
		}, "labeled guest "},
		"assigned": {func(b *bench, c *chronicle) {
			c.did(slot.Assigned, "our-bot", guest)
			b.edit(ref(1), func(t *forge.Thread) { t.Assignees = []string{"our-bot"} })
		}, "assigned guest "},
		"review asked": {func(b *bench, c *chronicle) {
			c.did(slot.ReviewRequested, "our-bot", guest)
			b.edit(ref(2), func(t *forge.Thread) { t.Reviewers = []string{"our-bot"} })
		}, "review_requested guest "},
		// Nobody is named rather than whoever did the same before.
		"a history that is behind": {func(b *bench, c *chronicle) {
			c.did(slot.Closed, "", author)
			time.Sleep(time.Hour)
			b.end(1, forge.Closed)
		}, "closed  "},
		"no history": {func(b *bench, c *chronicle) {
			b.fail["acts"] = &forge.Error{Kind: forge.ErrUnsupported}
			b.end(1, forge.Closed)
		}, "closed  "},
		"we ourselves": {func(b *bench, c *chronicle) {
			c.did(slot.Closed, "", forge.Person{Login: "our-bot"})
			b.end(1, forge.Closed)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kinds := []slot.EventKind{slot.Closed, slot.Merged, slot.Reopened, slot.Labeled, slot.Assigned, slot.ReviewRequested}
			in(t, kinds, func(b *bench) {
				c := &chronicle{fake: b.fake}
				b.o.Sources[0].Client = c
				gone := issue(4)
				gone.State, gone.Closed = forge.Closed, time.Now()
				for _, t := range []forge.Thread{issue(1), pull(2), gone} {
					b.put(t)
				}
				time.Sleep(time.Hour)
				b.tick()
				b.tick()
				tt.do(b, c)
				got := ""
				time.Sleep(time.Minute)
				for range 2 {
					if err := b.Tick(b.Context()); err != nil {
						b.Error(err)
					}
					time.Sleep(time.Minute)
				}
				for _, f := range b.events() {
					got += string(f.Kind) + " " + f.Facts.Actor + " " + f.Facts.Association
				}
				b.want(got, tt.want)
			})
		})
	}
}
