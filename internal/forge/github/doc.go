// Package github is the client of github.com and of GitHub Enterprise Server, on
// google/go-github: its types, its requests and its reading of errors. Calls that the
// library has no options for (a condition, a label with a slash, an app behind a
// comment) are built from the same parts.
//
// The library's own memory of rate limits is turned off: the transport judges every
// answer, so that there is one source of truth.
//
// It knows GitHub alone. It follows no address of a payload: of one that names a
// repository, the name is taken. What cannot be read is an error; an answer without a
// body is not an empty list.
package github
