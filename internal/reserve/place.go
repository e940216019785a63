package reserve

import (
	"context"
	"fmt"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// place is a conversation, as markers are signed for it: by the forge's id of its
// repository, which stays when the name does not. Two hosts may know one repository by
// two names.
type place string

// placeOf names a conversation of a repository. A forge that tells no ids has names
// alone. Nothing in it is a line break.
func placeOf(ref slot.Ref, repo forge.Repo) place {
	which := fmt.Sprintf("repository %q", repo.ID)
	if repo.ID == "" {
		which = fmt.Sprintf("name %q", repo.Name)
	}
	return place(fmt.Sprintf("%s %s %s %d", ref.Host(), which, ref.Kind(), ref.Number()))
}

// place asks the forge which repository a ref's name means now.
func (r *Reserver) place(ctx context.Context, ref slot.Ref) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	repo, err := r.o.Thread.Repo(ctx, ref.Repo())
	if err == nil && repo.ID == "" && repo.Name == "" {
		err = fmt.Errorf("%w: the forge does not say which repository it is", slot.ErrUnknown)
	}
	if err != nil {
		return "", unknown("read "+ref.Repo(), err)
	}
	return placeOf(ref, repo), nil
}
