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

// NewTrust is the gate "trust": it skips the events that strangers caused. Where an
// event tells nothing of who caused it, and of who opened a pull request from a fork, it
// asks the forge. Not finding out defers, whatever on_error says: a forge that is down
// lets no stranger in. What the forge does not know either is not trusted.
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
		association = "no association is known"
	}
	if f.Bot {
		association = "a bot"
	}
	who := f.Actor
	switch {
	case aboutFork(e):
		who, association = f.Author, "from a fork"
	case who == "" && act(e.Kind) && f.Author != "":
		who = "somebody, maybe " + f.Author
	}
	if who == "" {
		who = "somebody"
	}
	return fmt.Sprintf("%s by %s (%s)", e.Kind, who, association)
}

// trusts judges one event. A webhook carries the word of strangers, and so does what a
// poll found: by whatever path it came, it is the same comment. Whoever wishes by
// another path has access to the store or to the forge, or a token.
func (g trust) trusts(e slot.Event) bool {
	f := e.Facts
	if e.Path != slot.PathWebhook && e.Path != slot.PathPoll || f.Public != nil && !*f.Public {
		return true
	}
	switch e.Kind {
	case slot.Scheduled, slot.Manual: // nobody's word
		return true
	case slot.Merged: // takes the right to write, whoever did it
		return true
	case slot.CIFailed, slot.CIPassed, slot.Conflict:
		// Who pushes to a branch of the repository itself may write to it. Of a
		// fork, whose code it is counts, not who reports the result.
		return !aboutFork(e) || contains(g.Logins, f.Author)
	}
	switch {
	case act(e.Kind) && f.Actor == "":
		return contains(g.Logins, f.Author) // then it was he, or somebody with rights
	case act(e.Kind) && !strings.EqualFold(f.Actor, f.Author) && (!f.Bot || e.Kind == slot.Labeled):
		return true
	case f.Bot:
		return containsBot(g.Bots, f.Actor) || containsBot(g.Bots, f.App) || contains(g.Logins, f.Actor)
	case contains(g.Logins, f.Actor):
		return true
	}
	return contains(g.Associations, f.Association)
}

// act reports whether a kind is something that only two may do: whoever has rights in
// the repository (to triage it, at least), and in some way the author of the thread. He
// closes his own and opens it again, makes it ready, and gets labels and people from a
// template, or as he makes it. So by anybody else it is the act of somebody with rights;
// by the author it is his word as any other.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
// https://docs.gitlab.com/user/permissions/
func act(k slot.EventKind) bool {
	switch k {
	case slot.Labeled, slot.Assigned, slot.ReviewRequested, slot.Reopened, slot.Closed, slot.Ready:
		return true
	}
	return false
}

// aboutFork reports whether e tells of somebody else's code: how its checks ended, or
// that it conflicts.
func aboutFork(e slot.Event) bool {
	return e.Facts.Fork && (e.Kind == slot.CIFailed || e.Kind == slot.CIPassed || e.Kind == slot.Conflict)
}

func contains(list []string, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

func containsBot(list []string, name string) bool {
	bare := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), "[bot]") }
	return name != "" && slices.ContainsFunc(list, func(s string) bool { return bare(s) == bare(name) })
}
