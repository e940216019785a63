package forge

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Client is all that is asked of a forge. Repositories are canonical
// ("host/owner/repo") and of the client's own host; refs are of issues, pull
// requests, merge requests. Lists are whole: all pages were read.
//
// Errors match one of the kinds below, and slot.ErrUnknown. A method that a forge
// has nothing for fails with ErrUnsupported.
type Client interface {
	Reader
	Writer
	Poller
}

// Reader reads one thing.
type Reader interface {
	// Thread reads an issue or pull request as it is now. One that was moved to
	// another repository is read there: its Ref is another than the one asked for.
	Thread(ctx context.Context, ref slot.Ref) (Thread, error)
	// Comments reads a conversation, oldest first, by id. A list that is shorter
	// than the thread's own counter says is read again a few times, and then
	// ErrShort.
	Comments(ctx context.Context, ref slot.Ref) (Comments, error)
	// Checks reads the newest result of every check and status of a commit; with the
	// name of a branch for sha, of its newest commit.
	Checks(ctx context.Context, repo, sha string) ([]Check, error)
	// Reviews reads the reviews and the unresolved threads of a pull request.
	Reviews(ctx context.Context, ref slot.Ref) (Reviews, error)
	// PullsByHead reads the open pull requests into repo whose head is that commit.
	PullsByHead(ctx context.Context, repo, sha string) ([]Thread, error)
	// Closing reads, for an issue, the pull requests that close it or did, as far as
	// the forge links them; for a pull request, the issues that it closes. Texts are
	// not interpreted: that is for package closing.
	Closing(ctx context.Context, ref slot.Ref) ([]Thread, error)
	// Commits reads commits of the default branch, newest first, from since on, at
	// most some hundreds; more says that there were more.
	Commits(ctx context.Context, repo string, since time.Time) (list []Commit, more bool, err error)
	// Reopened is when an issue or pull request was last opened again; zero if it
	// never was.
	Reopened(ctx context.Context, ref slot.Ref) (time.Time, error)
	// Repo reads a repository by its name, followed to where it is now.
	Repo(ctx context.Context, repo string) (Repo, error)
	// Me is the login that the token acts as.
	Me(ctx context.Context) (string, error)
}

// Writer changes a thread. What was answered with an error may have been done all
// the same.
type Writer interface {
	// Comment posts a comment.
	Comment(ctx context.Context, ref slot.Ref, body string) (Comment, error)
	// EditComment replaces a comment's body.
	EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (Comment, error)
	// DeleteComment removes a comment; one that is not there is no error.
	DeleteComment(ctx context.Context, ref slot.Ref, id int64) error
	// AddLabel and RemoveLabel change one label, which is made if it is missing;
	// twice is harmless.
	AddLabel(ctx context.Context, ref slot.Ref, label string) error
	RemoveLabel(ctx context.Context, ref slot.Ref, label string) error
	// Lock and Unlock the conversation; twice is harmless.
	Lock(ctx context.Context, ref slot.Ref) error
	Unlock(ctx context.Context, ref slot.Ref) error
}

// Poller finds what changed.
type Poller interface {
	// Repos lists the repositories that the token sees; globs narrow it to
	// "owner/repo" patterns, as far as the forge can be asked for them: the caller
	// looks at the names again. With an error, the list may have some of them.
	Repos(ctx context.Context, globs []string) ([]Repo, error)
	// Changed lists the open and closed threads of a repository that were updated
	// at or after since, oldest change first. With the Seen of an earlier list, and a
	// forge that knows, unchanged is told by one cheap request.
	Changed(ctx context.Context, repo string, since time.Time, seen Seen) (Changes, error)
	// Open lists all open threads of a repository.
	Open(ctx context.Context, repo string) ([]Thread, error)
	// Redeliver lists webhook deliveries that failed since a time, and asks for them
	// again; ErrUnsupported where the forge has no such list or the token may not.
	Redeliver(ctx context.Context, repo string, since time.Time) (n int, err error)
}

// Historian is what a Client is beside where the forge tells who did what.
type Historian interface {
	// Acts reads what was set on a thread, when it was closed and opened again, and by
	// whom, in any order. A forge may leave kinds out.
	Acts(ctx context.Context, ref slot.Ref) ([]Act, error)
}

// Limits are the bounds of a forge's content.
type Limits struct {
	Comment int // bytes of a comment's body
	Label   int // characters of a label's name
}

// Capabilities are what a client declares of its forge; the contract suite asserts
// them.
type Capabilities struct {
	// Lags: a list may be behind a write that was answered.
	Lags bool
	// ETags: an unchanged list is told by a 304, which costs nothing of the limit.
	ETags bool
	// Locks: conversations can be locked.
	Locks bool
	// Threads: unresolved review threads can be read.
	Threads bool
	// Links: the forge links pull requests and the issues they close.
	Links bool
	// Redelivers: failed webhook deliveries can be listed and asked for again.
	Redelivers bool
	Limits     Limits
}

// States of a thread.
const (
	Open   = "open"
	Closed = "closed"
	Merged = "merged"
)

// Thread is an issue or a pull request.
type Thread struct {
	Ref    slot.Ref // where it is now
	RepoID string   // the forge's id of its repository; empty if it was not told
	Pull   bool
	State  string // Open, Closed or Merged
	Title  string
	Body   string
	Author Person

	Labels    []string
	Assignees []string // logins
	Reviewers []string // logins that were asked for a review

	// Comments is the forge's own counter of the conversation; -1 if it has none.
	Comments int
	Locked   bool
	// Reason is why it was closed, in the forge's word: completed, not_planned, ...
	Reason  string
	Created time.Time
	Updated time.Time
	Closed  time.Time // or merged; zero while it is open
	// UpdatedText is Updated as the forge wrote it, for fingerprints.
	UpdatedText string

	// Of a pull request only. Lists of threads may leave them out; Thread does not.
	Draft bool
	Head  End
	Base  End
	// Mergeable is "clean", "conflict", or empty: the forge does not know (yet).
	Mergeable string
	MergeSha  string // the commit that merged it
}

// End is one end of a pull request.
type End struct {
	Repo   string // canonical; empty if it is gone
	Branch string
	Sha    string
}

// Fork reports whether a pull request comes from another repository.
func (t Thread) Fork() bool { return t.Pull && t.Head.Repo != t.Base.Repo }

// Person is somebody at the forge.
type Person struct {
	Login       string
	Bot         bool
	App         string // the app that it was done through: its slug or id
	Association string // with the repository, lower case: owner, member, ...; empty if not told
}

// Act is one thing that somebody did to a thread.
type Act struct {
	Kind slot.EventKind // Labeled, Assigned, ReviewRequested, Closed, Merged or Reopened
	What string         // of what was set: the label, or the login
	By   Person
	At   time.Time
}

// Comment is one comment of a conversation.
type Comment struct {
	ID      int64
	Author  Person
	Body    string
	Created time.Time
	Updated time.Time
	// Shown is when others could see it first, if that is after Created: a remark of a
	// review is written before that is given.
	Shown time.Time
	// UpdatedText is Updated as the forge wrote it, for fingerprints.
	UpdatedText string
}

// Comments is a whole conversation.
type Comments struct {
	List []Comment // by id
	// At is the forge's clock when it answered.
	At time.Time
}

// States of a check.
const (
	Pending = "pending"
	Success = "success"
	Failure = "failure"
	Neutral = "neutral" // cancelled, skipped, out of date: it says nothing about the commit
)

// Check is the newest result of one check or status on a commit.
type Check struct {
	Name   string
	State  string // Pending, Success, Failure, Neutral
	Result string // in the forge's own word
	App    string // the app that reports it: its slug or id
	// ID and Again tell results apart as the forge's webhook does: Again is the
	// attempt or the time of completion, as the forge wrote it.
	ID    string
	Again string
}

// Review is the last word of one reviewer.
type Review struct {
	ID          int64
	Author      Person
	State       string // approved, changes_requested, commented, dismissed
	Body        string
	Sha         string // the commit that was reviewed
	At          time.Time
	UpdatedText string // as the forge wrote it, for fingerprints
}

// Talk is a review thread that nobody resolved.
type Talk struct {
	ID string
	// Last is its newest comment.
	Last Comment
}

// Reviews are what reviewers said of a pull request.
type Reviews struct {
	Reviews []Review // by time
	// Unresolved review threads; nil with Known false: the forge does not tell.
	Unresolved []Talk
	Known      bool
}

// Commit is a commit of the default branch.
type Commit struct {
	Sha     string
	Message string
	At      time.Time // committed
}

// Repo is a repository.
type Repo struct {
	ID       string
	Name     string // canonical host/owner/repo, as it is now
	Slots    string // the name that its slots are kept under, if it was renamed; else empty
	Default  string // branch; empty if it has none
	Public   bool
	Archived bool
	Updated  time.Time
}

// Matches reports whether the repository's name, without the host, fits a glob in
// lower case; "*" ends at a slash.
func (r Repo) Matches(glob string) bool {
	_, name, _ := strings.Cut(strings.ToLower(r.Name), "/")
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// Seen is what a list leaves for its next reading; the zero one knows nothing.
type Seen struct {
	ETag string
}

// Changes are the threads that changed.
type Changes struct {
	Unchanged bool // nothing since Seen; the rest is empty
	Threads   []Thread
	Seen      Seen
	At        time.Time // the forge's clock when it answered
}
