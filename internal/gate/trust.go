package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// Trust says whose word may start costly work on a public repository. Names compare
// without case; of bots, with or without "[bot]" at their end.
type Trust struct {
	Associations []string // with the repository: owner, member, collaborator, ...
	Logins       []string
	Bots         []string // logins of bots, ids or slugs of apps
	// Facts tell the association of people where the event does not; nil: nobody does.
	Facts Facts
}

type trust struct{ Trust }

// NewTrust is the gate "trust": it skips the events that strangers caused. Where a
// payload tells nothing of its author, and of who opened a pull request from a fork,
// it asks the forge. Not finding out defers, whatever on_error says: a forge that is
// down lets no stranger in.
func NewTrust(t Trust) Gate { return trust{t} }

func (trust) Type() string { return "trust" }

func (g trust) Ask(ctx context.Context, a Ask) Answer {
	var refused, why []string
	for _, e := range a.Events {
		ok, err := g.trusts(e), error(nil)
		if !ok {
			e, ok, err = g.askForge(ctx, a, e)
		}
		if err != nil {
			ans := unread("trust", a.Ref, err)
			ans.Verdict = slot.Defer
			return ans
		}
		if ok {
			continue
		}
		refused = append(refused, e.ID)
		if w := stranger(e); !slices.Contains(why, w) {
			why = append(why, w)
		}
	}
	if len(refused) == 0 {
		return proceed("trust", "trusted", "")
	}
	return Answer{Verdict: slot.Skip, Reason: "trust: not trusted", Detail: strings.Join(why, "; "), Events: refused}
}

// stranger says who was refused, and for what.
func stranger(e slot.Event) string {
	f := e.Facts
	association := f.Association
	if association == "" {
		association = "no association in the payload"
	}
	if f.Bot {
		association = "a bot"
	}
	who := f.Actor
	if aboutFork(e) {
		who, association = f.Author, "from a fork"
	}
	if who == "" {
		who = "somebody"
	}
	return fmt.Sprintf("%s by %s (%s)", e.Kind, who, association)
}

// trusts judges one event. A webhook carries the word of strangers, and so does what a
// poll found by somebody's name: by whatever path it came, it is the same comment.
// Whoever wishes by another path has access to the store or to the forge, or a token.
func (g trust) trusts(e slot.Event) bool {
	f := e.Facts
	found := e.Path == slot.PathPoll && (f.Actor != "" || aboutFork(e) && f.Author != "")
	if e.Path != slot.PathWebhook && !found || f.Public != nil && !*f.Public {
		return true
	}
	switch e.Kind {
	case slot.Labeled: // takes the right to triage
		return true
	case slot.Conflict, slot.Scheduled, slot.Manual: // nobody's word
		return true
	case slot.CIFailed, slot.CIPassed:
		// Who pushes to a branch of the repository itself may write to it. Of a
		// fork, whose code it is counts, not who reports the result.
		return !aboutFork(e) || contains(g.Logins, f.Author)
	}
	switch {
	case f.Bot:
		return containsBot(g.Bots, f.Actor) || containsBot(g.Bots, f.App) || contains(g.Logins, f.Actor)
	case contains(g.Logins, f.Actor):
		return true
	}
	return contains(g.Associations, f.Association)
}

// aboutFork reports whether e is the result of a check of somebody else's code.
func aboutFork(e slot.Event) bool {
	return e.Facts.Fork && (e.Kind == slot.CIFailed || e.Kind == slot.CIPassed)
}

func contains(list []string, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

func containsBot(list []string, name string) bool {
	bare := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), "[bot]") }
	return name != "" && slices.ContainsFunc(list, func(s string) bool { return bare(s) == bare(name) })
}
