// Package ending ends what is on a slot: a run that is live, because a person said
// so, and what a dead one left on this host. Whose supervisor can act is asked; for
// one that cannot, the slot is taken, the tree ended, and the slot given back.
package ending
