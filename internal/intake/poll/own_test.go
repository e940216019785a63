package poll

import (
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// C31: what oneslot writes wakes nobody, by whatever account it was written.
func TestC31_OurMarkersWakeNobody(t *testing.T) {
	in(t, nil, func(b *bench) {
		b.put(issue(1))
		time.Sleep(time.Hour)
		b.tick()
		b.say(ref(1), 5, forge.Person{Login: "another-host-of-ours"}, "<!-- oneslot:reservation v1 state=posted -->\n@our-bot")
		b.want(b.soon(), "")
		b.say(ref(1), 6, author, "> <!-- oneslot: what is this?")
		b.want(b.soon(), "comment #1")
	})
}

// A verdict that tells neither its time nor an id is news once: not when it stood there
// when we came, nor with each push.
func TestVerdictsWithoutATime(t *testing.T) {
	in(t, []slot.EventKind{slot.ReviewComment}, func(b *bench) {
		said := func(n int, who string) {
			b.reviews[ref(n)] = forge.Reviews{Reviews: append(b.reviews[ref(n)].Reviews, forge.Review{Author: forge.Person{Login: who}, State: "commented"})}
			b.edit(ref(n), func(*forge.Thread) {})
		}
		b.put(pull(1))
		said(1, "ann")
		time.Sleep(time.Hour)
		b.want(b.tick(), "")
		said(1, "bob")
		b.want(b.soon(), "review_comment #1")
		b.edit(ref(1), func(t *forge.Thread) { t.Head.Sha = sha(9) })
		b.want(b.soon(), "")
	})
}
