// Package forge has the words for what is read from a forge and written to it, the
// same for GitHub, Gitea, Forgejo, Gogs and GitLab. Who needs something of a forge
// declares the few methods of Client that it calls; the packages below this one
// make clients with each forge's own library.
//
// Three rules hold for every client:
//
//   - What could not be read is an error, never an empty or a closed answer. A 404 and
//     a 403 tell nothing about the thread: it may be there, and we may not see it.
//   - The address of the forge comes from the configuration. Addresses that the forge
//     sends are never followed, and no token leaves for another host.
//   - A rate limit slows the whole client down, for as long as the forge asks.
//
// Texts are the forge's: data, never part of a command, a path or a unit's name.
package forge
