// Package transport carries the requests of every forge's library: it makes the
// http.Client that the library is given, one per configured forge.
//
// It keeps what must hold whatever the library does: no byte goes to another host
// than the configured one, the token is set here and nowhere else, a limit that the
// forge names stops the whole client until it is over, and answers are bounded. It
// repeats no request but one, after a new token: callers have deadlines, and only
// they know what may be done twice.
//
// It knows no forge: what a path or a body means is for the clients.
package transport
