// Package claimtest says what a claim backend must do, and proves it.
//
// Run is the contract suite of claim.Store and claim.Journal. SQLite,
// PostgreSQL, Redis, git and remote stores pass it unchanged: a backend declares
// its claim.Capabilities, and the suite asserts each of them. What a backend
// does not declare is not skipped; the suite then asserts the opposite, or what
// is promised without it. Tests are named after the promise (P1 to P11) or the
// case (C22) that they hold the backend to.
//
// Memory is the reference: small, one mutex, obviously right. The suite is
// itself tested by stores that are wrong on purpose. What a concurrent history
// of one slot may look like is in the package history beside this one.
package claimtest
