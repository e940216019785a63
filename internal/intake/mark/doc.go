// Package mark has what the paths of intake must do alike, so that a webhook and a
// poll that see one occurrence make one event of it: fingerprints, the bounds of
// forge text, the refs that names of a forge stand for, and what counts as our own.
//
// It reads no payload and asks no forge.
package mark
