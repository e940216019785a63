// Package claim is the gate itself: one live claim per slot.
//
// Store is what a claim backend must do; the suite in claimtest says what that
// means and every backend passes it unchanged. Taker is what everybody who
// wants a slot uses: it asks the store, looks whether a holder that is in the
// way still lives, displaces a dead one, and waits in line.
//
//	              Acquire                Start               Release
//	(free) ───────────────▶ starting ───────────▶ running ───────────▶ (free)
//	   ▲                       │                    │
//	   │  deadline, proof of   │      Displace      │
//	   └── death, or a person ─┴────────────────────┘
//
// A displaced claim is lost for good; the fence of its successor is larger.
// This package knows no database and starts no process.
package claim
