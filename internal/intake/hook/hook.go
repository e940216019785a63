package hook

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// Forges, as the configuration names them.
const (
	GitHub  = "github"
	Forgejo = "forgejo"
	Gitea   = "gitea"
	Gogs    = "gogs"
	GitLab  = "gitlab"
)

// Hook is one configured hook.
type Hook struct {
	Name  string
	Forge string // GitHub, Forgejo, Gitea, Gogs or GitLab
	// Host is the canonical host that refs get. Empty: github.com and gitlab.com
	// for these forges, else the host that the payload says its repository is at.
	Host   string
	Secret []byte
	// Unsigned allows requests without a signature, as long as there is no Secret.
	// With neither, every request is turned down.
	Unsigned bool
	Commands []string // such as "/oneslot"
	Own      Own
	Labels   []string // those that only oneslot sets
}

// Own is what oneslot acts as, and so never listens to.
type Own = mark.Own

// Errors of Parse: the request is wrong, and sending it again does not help.
var (
	ErrNoEvent = errors.New("no header names the event")
	ErrEmpty   = errors.New("the body is empty")
	ErrBroken  = errors.New("the body is not a JSON object")
)

// Result is what became of one event.
type Result struct {
	ID     string // the event's; empty if none is on record
	Intake slot.Intake
	Of     string // the event or run that a duplicate is a copy of
	Reason string
}

// Sink keeps deliveries.
type Sink interface {
	// Accept commits the delivery, its events and what they wake in one
	// transaction, and returns one Result for each event, in order. There may be
	// none, with the reason in p.Ignored.
	//
	// A GUID that the hook has sent before makes it a duplicate; an empty one
	// never does. Without an error a body's file is the sink's from then on, to
	// keep or to remove; Delivery.Body is its only until it returns. An error
	// means that nothing was kept; if that could not be found out it matches
	// slot.ErrUnknown, and the file stays. The refs of p.Events become those of the
	// slots, where a repository had another name once.
	Accept(ctx context.Context, p Parsed) ([]Result, error)
}

// Metrics counts deliveries. Hook is empty if none of that name is configured.
// Result is a slot.Intake, or why it was turned down: "unauthorized", "too_large",
// "broken", "unsupported", "unknown", "busy", "failed".
type Metrics interface {
	Delivery(hook, result string)
}

// Parsed is what a delivery says.
type Parsed struct {
	// Delivery has GUID, Event, Action, Body and Size.
	Delivery slot.Delivery
	About    About
	Events   []slot.Event // without ID, At and Delivery
	Ignored  string       // why there are no events
	Repo     Repo
	Moved    *Moved // the repository has a new name
}

// Repo is the repository that a delivery comes from, with the name of that time; zero
// if the payload does not say, or nobody signed it: a name that is believed decides
// which slot is meant.
type Repo struct {
	ID   string // the forge's
	Name string // canonical host/owner/repo
}

// About is what a delivery is about, whether or not it is of use.
type About struct {
	Ref  slot.Ref // zero if the payload names none
	Kind string   // issue, pull, commit or none
	Sha  string   // the head commit
	// State is open, "open draft", closed or merged; of a check its
	// status/conclusion; of a commit status or pipeline its state; of a push
	// created, updated or deleted.
	State string
}

// Moved says that a repository was renamed or transferred, or both.
type Moved struct {
	ID       string // the forge's id of the repository, which stays
	From, To string // canonical host/owner/repo
}
