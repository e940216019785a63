package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oneslot/oneslot/internal/closing"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/names"
	"github.com/oneslot/oneslot/internal/slot"
)

// relations know which issues a pull request closes.
type relations struct {
	config *config.Config
	forges forges
	names  *names.Names
}

// Closes implements dispatch.Relations: what the forge links, and what the text says.
func (r relations) Closes(ctx context.Context, ref slot.Ref) ([]slot.Ref, error) {
	client, ok := r.forges.forgeOf(ref)
	if !ok || ref.Kind() != slot.RefIssue && ref.Kind() != slot.RefMerge {
		return nil, nil
	}
	t, err := client.Thread(ctx, ref)
	if err != nil || !t.Pull {
		return nil, err
	}
	linked, err := client.Closing(ctx, ref)
	if err != nil && !errors.Is(err, forge.ErrUnsupported) {
		return nil, err
	}
	of, _ := r.config.ForgeOf(ref.Host())
	list := closing.In(t.Title+"\n\n"+t.Body, of.Type.V, t.Ref.Repo())
	for _, l := range linked {
		list = append(list, l.Ref)
	}
	var ours []slot.Ref
	for _, issue := range list {
		if issue, err = r.names.Canonical(ctx, issue); err != nil {
			return nil, err
		}
		if r.ours(issue, t.Ref, of) && issue != ref && !slices.Contains(ours, issue) {
			ours = append(ours, issue)
		}
	}
	if len(ours) > maxLinked {
		return nil, fmt.Errorf("%w: %s closes %d issues; at most %d can share its slot", slot.ErrUsage, ref, len(ours), maxLinked)
	}
	return ours, nil
}

// maxLinked bounds how many slots the text of a pull request can take.
const maxLinked = 20

// ours reports whether an issue is in the pull request's repository, or in one that is
// configured: the text is a stranger's, and may name any.
func (r relations) ours(issue, pull slot.Ref, f config.Forge) bool {
	repo := forge.Repo{Name: issue.Repo()}
	return issue.Host() == pull.Host() && (issue.Repo() == pull.Repo() || slices.ContainsFunc(f.Repos.V, repo.Matches))
}
