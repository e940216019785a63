// Package app puts the parts together: configuration, store, clock, forges, gates,
// and the sight of processes. It is the only package that knows which adapters exist;
// whoever imports it gets the seams, filled in: for a verb or the library (App,
// Admission), and for the daemon (Serve).
package app
