// Package queue holds the rules of work items: what an event does to the item of
// its ref and rule, and what the end of a run does.
//
//	idle ──event──> pending ──Begin──> running ──Settle──> idle
//	                   ^   └─Defer─┘                ├────> pending (follow-up, retry, later)
//	                   └───────retry, fresh event── dead <─┘
//
// Drop takes what is pending or dead back to idle.
//
// Item's methods are the rules, and pure: a store loads the item and its waiting
// events in a transaction, calls one method, and writes the result, so that every
// store decides alike. queuetest is the contract that all of them pass.
//
// A generation is the set of events that one run is told of. It is fixed by Begin,
// when the claim is held and before facts are read; what is accepted later belongs
// to the next one, and no verdict on this one ends it.
package queue
