// Package reserve makes reservations that other hosts can see: one comment on the
// issue or pull request itself, for paths and hosts that share no better store. It
// sees a conversation through its own small interface, and neither claims nor queues.
//
// The comment's first line is a marker for programs, an HTML comment with a MAC; the
// rest is for people.
//
//	         note on disk, POST      alone in a settled list, PATCH
//	(nobody) ──────────────▶ posted ───────────────────────▶ running ⟲ renewed by PATCH
//	    ▲                      │                                │
//	    │  withdrawn (DELETE): │ somebody runs, a lower id      │ end: PATCH to "ended",
//	    │  lives, or too late  │ lives, or our edit is late     │ or DELETE
//	    ├──────────────────────┤                                │
//	    └─ lapse: P after created_at         lapse: ttl after ──┘
//	                                         updated_at
//
// All ages are judged by the forge's clock, all of one's own deadlines by boot time.
//
// # Why it is so
//
// A forge has no compare-and-swap for comments, and its lists may be behind by some
// lag. What it has is one total order, the comments' ids, and one clock. Whoever's
// comment became visible later sees the other one, if it first waits longer than the
// lag (settle): so of two, one at least knows of both. It may be the lower, or the
// higher:
//
//   - The higher one sees a lower one, and withdraws.
//   - The lower one sees a higher one that is posted: that one may have read a list
//     without us, and run any moment. So it looks again until the other is gone,
//     runs, or has lapsed. An id is given before a comment can be seen, so this also
//     happens where no list lags.
//   - Somebody frozen between look and edit may edit at any later time. It then looks
//     at its own clock: an edit that was not answered in time (the cut-off) is no win.
//     The cut-off ends so long before posted lapses that every edit made before it is
//     visible when the others begin to ignore what is posted.
//
// next in decide.go is these rules, and nothing else is; model_test.go calls it for
// every schedule of three contenders. The model showed that a contender that waits
// for all higher ones may be kept waiting by newcomers until its own time is over, so
// that nobody wins although all are prompt. So it waits only for those that were made
// before its own comment was surely there; the later ones cannot miss it.
//
// A list that does not show our own comment is behind, or somebody took our comment
// away: nothing rests on it. Who is late, or does not know, withdraws: that never
// harms anybody. It takes back its own comment alone.
//
// # What is on disk
//
// A record, one file per reservation, is written before the comment is sent and
// removed when the comment is gone or says the outcome. So the next process on the
// folder finds what a dead one left on a thread: Tidy. A record's lock is held by
// whoever works on it; a frozen contender still holds it.
package reserve
