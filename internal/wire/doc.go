// Package wire holds the JSON shapes of the HTTP API, for its server and for its
// client alike, so that neither knows the other.
//
// Names are stable. What is absent is null. Times are RFC 3339 in UTC, spans are
// written as in "1m30s", and refs in their canonical form. Each shape that stands
// for one of slot's or claim's words is made from it and gives it back, without
// loss: the store contract's suite runs over the wire.
package wire
