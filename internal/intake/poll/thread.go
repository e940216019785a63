package poll

import (
	"hash/fnv"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// aspect is one thing to look at on a thread.
type aspect int

const (
	checks aspect = iota
	merge
	reviews
	remarks
	aspects
)

func (a aspect) String() string {
	return [...]string{"checks", "pull requests", "reviews", "comments"}[a]
}

// set is a set of aspects.
type set uint8

func (s set) has(a aspect) bool { return s&(1<<a) != 0 }

func (s *set) put(a aspect, in bool) {
	if *s &^= 1 << a; in {
		*s |= 1 << a
	}
}

// thread is what is remembered of an open issue or pull request: under 1 KB.
type thread struct {
	ref slot.Ref
	// How it stood.
	sha, branch, base   string
	pull, draft, fork   bool
	author              forge.Person
	labels              []string
	assigned, reviewers []string
	text, mark          uint64 // sums of title and body, and of the list's entry
	body                uint64
	talk                int       // the forge's counter of comments
	commented           time.Time // comments were read up to here, by the forge's clock

	said  []uint64 // sums of the verdicts, as read last
	first bool     // nobody ever read them

	results
	looked [aspects]int64 // Unix nanoseconds
	seen   set            // this process has looked
	hot    set            // something was true that needs attention
	open   set            // not settled: it is looked at again soon
	since  time.Time      // when the head was first seen
	moved  time.Time      // when anything was seen to change last
	vague  int            // looks in a row that told nothing of the merge
	slots  []int64        // the last period of each Every
}

// note takes down how t stands. Who was nobody yet is made.
func note(was *thread, t forge.Thread, sum uint64, now time.Time) *thread {
	n := &thread{ref: t.Ref, since: now, moved: t.Updated}
	if was != nil {
		*n = *was
	}
	n.pull, n.author = t.Pull, t.Author
	n.labels = nil
	for _, l := range t.Labels[:min(len(t.Labels), mark.MaxList)] {
		n.labels = append(n.labels, mark.Line(l))
	}
	n.assigned, n.reviewers = t.Assignees, t.Reviewers
	n.text, n.body, n.mark, n.talk = sumOf(t.Title, t.Body), sumOf(t.Body), sum, t.Comments
	if !t.Pull {
		return n
	}
	n.draft = t.Draft
	if t.Head.Sha != "" {
		if t.Head.Sha != n.sha {
			if n.sha != "" {
				n.moved = now
			}
			n.sha, n.since, n.vague = t.Head.Sha, now, 0
			n.hot, n.open, n.seen = 0, 0, 0
		}
		n.branch, n.base, n.fork = mark.Line(t.Head.Branch), mark.Line(t.Base.Branch), t.Fork()
	}
	return n
}

// known are the facts of the thread for an event, as a webhook has them.
func (t *thread) known(public bool) slot.Facts {
	return slot.Facts{
		State: forge.Open, Pull: t.pull, Draft: t.draft, Labels: t.labels, Branch: t.branch, Base: t.base,
		Author: mark.Line(t.author.Login), Fork: t.fork, Public: &public,
	}
}

// look notes a look.
func (t *thread) look(a aspect, now time.Time) {
	t.looked[a] = now.UnixNano()
	t.seen.put(a, true)
	t.open.put(a, false)
}

// people are those assigned, or asked for a review.
func (t *thread) people(kind slot.EventKind) []string {
	if kind == slot.Assigned {
		return t.assigned
	}
	return t.reviewers
}

// vagueHead reports whether the list left out what only the pull request itself tells.
func (t *thread) vagueHead() bool { return t.pull && t.sha == "" && !t.seen.has(merge) }

// sumOfEntry tells whether a list's entry says something new.
func sumOfEntry(t forge.Thread) uint64 {
	parts := []string{t.UpdatedText, t.State, t.Title, t.Body, "labels"}
	parts = append(append(parts, t.Labels...), "assignees")
	return sumOf(append(parts, t.Assignees...)...)
}

// sumAt is the sum of an entry that was listed at a time; 0 for one that the next list
// may show with the same sum although it has changed: what changed in the second of
// the answer may change in it once more, without a new time.
func sumAt(t forge.Thread, at time.Time) uint64 {
	if !at.IsZero() && at.Sub(t.Updated) < 2*time.Second {
		return 0
	}
	return sumOfEntry(t)
}

func sumOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, s := range parts {
		h.Write([]byte(s)) //nolint:errcheck // it never fails
		h.Write([]byte{0}) //nolint:errcheck // as above
	}
	return h.Sum64()
}
