// Package api serves oneslot over HTTP: claims for processes and machines that
// share this daemon, wishes, and looks at what goes on.
//
// The routes are one table, which makes the handlers and the OpenAPI document
// alike. Shapes are in package wire. A caller is judged by how it is connected:
//
//   - over a unix socket by its uid: the server's own is admin's, others may do what
//     needs no admin, as the socket's permissions let them in;
//   - over TCP by its token. Where the server is open (on loopback, without tokens)
//     none is needed but for what is admin's; the Host must then be loopback's, so
//     that no web page reaches it by a name of its own.
//
// A process that a caller names is believed to be one of this host only if the
// caller is this host's: see slot.FarBoot.
package api
