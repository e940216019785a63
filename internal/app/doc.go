// Package app puts the parts together: configuration, store, clock, and the
// sight of processes. It is the only package that knows which adapters exist;
// whoever imports it gets the seams, filled in.
package app
