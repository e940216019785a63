package wire

import (
	"encoding/json"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Dispatch is a wish. What is run is what the rule says, but for whoever may start
// programs as the server's user anyway.
type Dispatch struct {
	Ref  string         `json:"ref"`            // also as people write it
	Kind slot.EventKind `json:"kind,omitempty"` // manual if left out
	Rule *string        `json:"rule,omitempty"` // every rule that wants it, if left out
	Note string         `json:"note,omitempty"`
	Key  string         `json:"key,omitempty"` // with an equal key, the second is a duplicate
	// Run and Dir are a command and its working folder. They are taken only over a
	// unix socket, from the user that the server runs as.
	Run []string `json:"run,omitempty"`
	Dir string   `json:"dir,omitempty"`
}

// Accepted answers a Dispatch: what became of it, by rule.
type Accepted struct {
	Results []Intake `json:"results"`
}

// Intake is queue.Accepted.
type Intake struct {
	Event  *string        `json:"event"` // null if it is not on record
	Kind   slot.EventKind `json:"kind"`
	Rule   string         `json:"rule"`
	Result slot.Intake    `json:"result"`
	Of     *string        `json:"of"` // of a duplicate: what it repeats
	Reason *string        `json:"reason"`
}

// FromAccepted makes the shapes of what became of a wish.
func FromAccepted(all []queue.Accepted) Accepted {
	out := Accepted{Results: []Intake{}}
	for _, a := range all {
		out.Results = append(out.Results, Intake{some(a.Event.ID), a.Event.Kind, a.Rule, a.Intake, some(a.Of), some(a.Reason)})
	}
	return out
}

// Item is a work item.
type Item struct {
	ID         int64            `json:"item"`
	Ref        slot.Ref         `json:"ref"`
	Rule       string           `json:"rule"`
	State      queue.State      `json:"state"`
	Run        *string          `json:"run"`
	Attempts   int              `json:"attempts"`
	Defers     int              `json:"defers"`
	Reason     *string          `json:"reason"`
	Detail     *string          `json:"detail"`
	NextLook   *time.Time       `json:"next_look"`
	Since      *time.Time       `json:"since"`    // the oldest event that is not over
	Deferred   *time.Time       `json:"deferred"` // put off without a break since
	Last       *time.Time       `json:"last"`     // the newest event
	Sha        *string          `json:"sha"`
	EventKinds []slot.EventKind `json:"event_kinds"`
	Person     bool             `json:"person"`
	Events     int              `json:"events"` // that wait
}

// fromItem makes the shape of a work item.
func fromItem(it queue.Item) Item {
	kinds := it.Kinds
	if kinds == nil {
		kinds = []slot.EventKind{}
	}
	return Item{
		ID: it.ID, Ref: it.Ref, Rule: it.Policy.Rule, State: it.State, Run: some(it.Run), Attempts: it.Attempts, Defers: it.Defers,
		Reason: some(it.Reason), Detail: some(it.Detail), NextLook: at(it.Due), Since: at(it.Age), Deferred: at(it.Deferred),
		Last: at(it.Last), Sha: some(it.Sha), EventKinds: kinds, Person: it.Person, Events: it.Waiting,
	}
}

// Work lists work items.
type Work struct {
	Work []Item `json:"work"`
}

// FromItems makes the shapes of work items.
func FromItems(items []queue.Item) Work {
	w := Work{Work: []Item{}}
	for _, it := range items {
		w.Work = append(w.Work, fromItem(it))
	}
	return w
}

// Retry gives work a fresh budget. Without a ref it is all work that is dead.
type Retry struct {
	Ref  string  `json:"ref,omitempty"`
	Rule *string `json:"rule,omitempty"`
}

// Drop ends work that waits or is dead: that of a ref, or all that is dead.
type Drop struct {
	Ref    string  `json:"ref,omitempty"`
	Dead   bool    `json:"dead,omitempty"` // instead of a ref
	Rule   *string `json:"rule,omitempty"`
	Reason string  `json:"reason"`
	By     string  `json:"by,omitempty"` // the caller, if left out
}

// Dropped answers a Drop.
type Dropped struct {
	Dropped []DroppedItem `json:"dropped"`
}

// DroppedItem is queue.Dropped: events says how many were ended. Those that wait
// in item are its present run's.
type DroppedItem struct {
	Events int  `json:"events"`
	Item   Item `json:"item"`
}

// FromDropped makes the shapes of what was dropped.
func FromDropped(list []queue.Dropped) Dropped {
	out := Dropped{Dropped: []DroppedItem{}}
	for _, d := range list {
		out.Dropped = append(out.Dropped, DroppedItem{d.Events, fromItem(d.Item)})
	}
	return out
}

// Event is an event as kept under one rule. Its facts are forge text.
type Event struct {
	Event       string           `json:"event"`
	At          *time.Time       `json:"at"`
	Path        string           `json:"path"`
	Repo        *string          `json:"repo"`
	Ref         *slot.Ref        `json:"ref"`
	Kind        slot.EventKind   `json:"kind"`
	Sha         *string          `json:"sha"`
	Fingerprint *string          `json:"fingerprint"`
	Facts       slot.Facts       `json:"facts"`
	Delivery    *string          `json:"delivery"`
	Rule        string           `json:"rule"`
	State       queue.EventState `json:"state"`
	Run         *string          `json:"run"`
	By          *string          `json:"by"`
	Reason      *string          `json:"reason"`
}

// fromRecord makes the shape of an event.
func fromRecord(r queue.Record) Event {
	e := Event{
		Event: r.ID, At: at(r.At), Path: r.Path, Repo: some(r.Repo), Kind: r.Kind, Sha: some(r.Sha), Fingerprint: some(r.Fingerprint),
		Facts: r.Facts, Delivery: some(r.Delivery), Rule: r.Rule, State: r.State, Run: some(r.Run), By: some(r.By), Reason: some(r.Reason),
	}
	if !r.Ref.IsZero() {
		e.Ref = &r.Ref
	}
	return e
}

// Events lists events, oldest first.
type Events struct {
	Events []Event `json:"events"`
}

// FromRecords makes the shapes of events.
func FromRecords(rs []queue.Record) Events {
	out := Events{Events: []Event{}}
	for _, r := range rs {
		out.Events = append(out.Events, fromRecord(r))
	}
	return out
}

// Delivery is the webhook request behind an event.
type Delivery struct {
	Delivery string          `json:"delivery"`
	Hook     string          `json:"hook"`
	GUID     *string         `json:"guid"`
	Event    string          `json:"event"`
	Action   *string         `json:"action"`
	At       *time.Time      `json:"at"`
	Size     int64           `json:"size"`
	Payload  json.RawMessage `json:"payload"` // as the forge sent it; null if it is kept in a file
}

// FromDelivery makes the shape of a delivery.
func FromDelivery(d slot.Delivery) Delivery {
	w := Delivery{Delivery: d.ID, Hook: d.Hook, GUID: some(d.GUID), Event: d.Event, Action: some(d.Action), At: at(d.At), Size: d.Size}
	if json.Valid(d.Body) {
		w.Payload = d.Body
	}
	return w
}

// Why answers "why did, or didn't, it start?".
type Why struct {
	Ref       slot.Ref   `json:"ref"`
	Slot      Look       `json:"slot"`
	Work      []Item     `json:"work"`
	Decisions []Decision `json:"decisions"`
}

// Stop ends the run of a ref. No attempt is spent and no retry follows.
type Stop struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
	Hold   bool   `json:"hold,omitempty"` // waiting events do not follow
}

// Takeover ends the run of a ref and leaves the slot to the head of the line.
type Takeover struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

// Server says with whom one speaks.
type Server struct {
	Version string `json:"version"`
	Store   string `json:"store"`
	PID     int    `json:"pid"`
	Role    string `json:"role"` // the caller's
	// Near: the server takes the processes that the caller names for those of its
	// own host.
	Near bool `json:"near"`
}

// Change is one word on the stream of changes: something about the ref is not as
// it was. Those that a slow reader missed are told as one of kind "missed".
type Change struct {
	Kind string     `json:"kind"` // claim, work, hold, missed
	Ref  string     `json:"ref"`  // empty: of many
	At   *time.Time `json:"at"`
}

// Item gives the work item back, as far as it is told.
func (i Item) Item() queue.Item {
	return queue.Item{
		ID: i.ID, Ref: i.Ref, Policy: queue.Policy{Rule: i.Rule}, State: i.State, Run: textOf(i.Run), Attempts: i.Attempts, Defers: i.Defers,
		Reason: textOf(i.Reason), Detail: textOf(i.Detail), Due: timeOf(i.NextLook), Age: timeOf(i.Since), Deferred: timeOf(i.Deferred),
		Last: timeOf(i.Last), Sha: textOf(i.Sha), Kinds: i.EventKinds, Person: i.Person, Waiting: i.Events,
	}
}

// Record gives the event back, but for the numbers of its store.
func (e Event) Record() queue.Record {
	r := queue.Record{
		Event: slot.Event{
			ID: e.Event, At: timeOf(e.At), Path: e.Path, Repo: textOf(e.Repo), Kind: e.Kind, Sha: textOf(e.Sha),
			Fingerprint: textOf(e.Fingerprint), Facts: e.Facts, Delivery: textOf(e.Delivery),
		},
		Rule: e.Rule, State: e.State, Run: textOf(e.Run), By: textOf(e.By), Reason: textOf(e.Reason),
	}
	if e.Ref != nil {
		r.Ref = *e.Ref
	}
	return r
}

// Accepted gives back what became of a wish for ref.
func (i Intake) Accepted(ref slot.Ref) queue.Accepted {
	return queue.Accepted{
		Event: slot.Event{ID: textOf(i.Event), Ref: ref, Kind: i.Kind}, Rule: i.Rule, Intake: i.Result,
		Of: textOf(i.Of), Reason: textOf(i.Reason),
	}
}
