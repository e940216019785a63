// Package remote is a store that a `oneslot serve` keeps, reached by its HTTP API
// over a unix socket, loopback or HTTPS.
//
// What it answers is what the server said, word for word, or unknown: an answer
// that is not one of the API's own (a proxy's page, half of it, another version's)
// is never read as free, held, lost or released. The token of a claim is chosen
// here, so that a step whose answer was lost can be sent again.
package remote
