package app

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/closing"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// relations know which issues a pull request closes.
type relations struct {
	config *config.Config
	forges forges
	names  *Names
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
	for i := range list {
		if list[i], err = r.names.Canonical(ctx, list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
