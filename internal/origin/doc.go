// Package origin asks the installed git for the address of a folder's origin
// remote, which is what "#12" alone refers to.
//
// It reads git's configuration and nothing else: no network, no credentials.
// What the address means is for package slot to say.
package origin
