// Package dispatch is the one path from a wish to a start:
//
//	pick ─ gates ─ claim ─ begin ─ gates again ─ hand over ─ forget
//
// Webhooks, people, the API and the sweep put wishes into the queue, and nothing
// else starts work on what is in it. From the hand-over on the run is its
// supervisor's, a process that outlives us; whatever comes of it comes back as a
// change of the queue.
//
// Each arrow may be the last thing that this process does. Before the claim's
// commit nothing has happened. After it the claim names a supervisor that ends
// when we do, so that the claim is proved dead; and the item either waits as
// before, or has a run that the sweep finds and settles. Where the queue is kept with
// the claims, claim and begin are one commit.
package dispatch
