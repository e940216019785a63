package slot

import "time"

// Paths: how a wish to work arrived. A program that is not ours and asks through
// `oneslot run` may name a path of its own with ONESLOT_PATH.
const (
	PathWebhook = "webhook"
	PathPoll    = "poll"
	PathSweep   = "sweep"
	PathManual  = "manual" // a person, or a program, at the command line
	PathAPI     = "api"
)

// EventKind says what happened.
type EventKind string

// The kinds of events. Rules name them in `on`.
const (
	Opened           EventKind = "opened"
	Reopened         EventKind = "reopened"
	Edited           EventKind = "edited"
	Labeled          EventKind = "labeled"
	Assigned         EventKind = "assigned"
	Mentioned        EventKind = "mentioned"
	Commented        EventKind = "comment"
	Command          EventKind = "command"
	Pushed           EventKind = "pushed"
	Ready            EventKind = "ready"
	ReviewRequested  EventKind = "review_requested"
	ChangesRequested EventKind = "changes_requested"
	ReviewComment    EventKind = "review_comment"
	Approved         EventKind = "approved"
	CIFailed         EventKind = "ci_failed"
	CIPassed         EventKind = "ci_passed"
	Conflict         EventKind = "conflict"
	Closed           EventKind = "closed"
	Merged           EventKind = "merged"
	Scheduled        EventKind = "scheduled"
	Manual           EventKind = "manual"
)

// EventKinds lists all kinds, in the order of the manual.
func EventKinds() []EventKind {
	return []EventKind{Opened, Reopened, Edited, Labeled, Assigned, Mentioned, Commented, Command, Pushed, Ready,
		ReviewRequested, ChangesRequested, ReviewComment, Approved, CIFailed, CIPassed, Conflict, Closed, Merged,
		Scheduled, Manual}
}

// Event is one recorded wish. It is a hint that wakes: what it says of the world
// was true, at best, when it was sent.
type Event struct {
	// ID names the event; ids sort by acceptance. The queue gives it.
	ID string
	At time.Time // accepted
	// Path is how it arrived.
	Path string
	// Repo is the canonical host/owner/repo; empty with keys.
	Repo string
	// Ref is what it is about. It is zero if only Repo and Sha are known: the
	// ref is then found by the head commit, later.
	Ref  Ref
	Kind EventKind
	Sha  string // the head commit, lower-case hex; empty if none was named
	// Fingerprint is what makes it different from others of its ref: equal
	// fingerprints are one occurrence. Empty: it is always new.
	Fingerprint string
	Facts       Facts
	// Delivery is our id of the delivery behind it; empty if there is none.
	Delivery string
}

// Person reports whether somebody asked for it in person, so that it goes first
// and waits for nothing to calm down.
func (e Event) Person() bool { return e.Path == PathManual || e.Path == PathAPI }

// Facts are what an event knew of the world. All of it is forge text or copied
// from it: data, never part of a command, a path or a unit name.
type Facts struct {
	State string `json:"state,omitempty"` // open, closed, merged
	Pull  bool   `json:"pull,omitempty"`  // a pull or merge request
	Draft bool   `json:"draft,omitempty"`

	Labels []string `json:"labels,omitempty"` // as listed; may lag behind
	Label  string   `json:"label,omitempty"`  // the one that was set
	Branch string   `json:"branch,omitempty"` // the head branch, or the branch of a check
	Base   string   `json:"base,omitempty"`
	Author string   `json:"author,omitempty"` // who opened the ref
	Fork   bool     `json:"fork,omitempty"`   // the head is in another repository

	Actor       string `json:"actor,omitempty"`       // login of who caused it
	Bot         bool   `json:"bot,omitempty"`         // and that is no person
	App         string `json:"app,omitempty"`         // the app it was done through: its id or slug
	Association string `json:"association,omitempty"` // lower case: owner, member, collaborator, contributor, none, ...
	Public      *bool  `json:"public,omitempty"`      // the repository; nil if the payload does not say

	Check   string `json:"check,omitempty"`   // the check's name
	Result  string `json:"result,omitempty"`  // and what came of it
	Comment string `json:"comment,omitempty"` // the id of a comment or review
	Command string `json:"command,omitempty"` // the line of a command, with its arguments
	Note    string `json:"note,omitempty"`    // what a person said about a wish
}

// Delivery is the raw webhook request behind events.
type Delivery struct {
	ID   string // ours; sorts by arrival
	Hook string // the configured name
	// GUID is the forge's id of the delivery; a redelivery may carry a new one.
	GUID   string
	Event  string // as the forge names it
	Action string
	At     time.Time
	Size   int64
	// Body is the request's body; nil if it lies in the file named File.
	Body []byte
	File string
}

// Intake is what became of a wish on its arrival.
type Intake string

const (
	Queued    Intake = "queued"    // it woke its work item
	Coalesced Intake = "coalesced" // it joined a work item that waits or runs already
	Duplicate Intake = "duplicate" // the same occurrence is on record
	Ignored   Intake = "ignored"   // nobody wants it
)
