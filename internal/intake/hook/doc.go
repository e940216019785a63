// Package hook takes webhook deliveries of GitHub, Forgejo, Gitea, Gogs and GitLab
// at POST /hooks/NAME.
//
//	method, name ─> signature ─> size ─> parse ─> Sink.Accept ─> 202
//	  405   404        401        413     400        503
//
// Which forge a hook speaks for is configured, and never guessed from headers.
// The signature is taken over the bytes as received, before anything reads them.
// A request that is turned down leaves nothing behind but a count. The answer 202
// means that the sink holds everything durably; it is the same for what is queued,
// joined, known already, or of no use.
//
// A delivery only says that something happened: Parse maps it to events, which are
// hints that wake. What a forge sends is data: it becomes part of a ref by the
// grammar of refs alone, and facts are one line each and bounded.
//
// What is of no use: pushes to branches (a pull request says `synchronize` itself,
// and an event of a branch would double that one), checks that are neither passed
// nor failed, whatever oneslot did itself, and all else that no kind of event
// stands for.
package hook
