// Package law holds the rules that no single package can keep alone, as tests:
// who may import whom, that everything builds without cgo for each platform,
// how big the program is, and what must not be left in a release.
//
// It has no code. To move a rule, move its line in a table, with the reason.
package law
