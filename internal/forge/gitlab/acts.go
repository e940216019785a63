package gitlab

import (
	"context"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Acts implements forge.Historian for labels. Who assigned somebody is told by notes
// alone, in words.
func (c *Client) Acts(ctx context.Context, ref slot.Ref) ([]forge.Act, error) {
	op := "read who labelled " + ref.String()
	p, err := c.place(op, ref)
	if err != nil {
		return nil, err
	}
	list, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.LabelEvent, *gl.Response, error) {
		o := &gl.ListLabelEventsOptions{ListOptions: hundred}
		if p.merge {
			return c.api.ResourceLabelEvents.ListMergeRequestsLabelEvents(p.project, p.number, o, with...)
		}
		return c.api.ResourceLabelEvents.ListIssueLabelEvents(p.project, p.number, o, with...)
	})
	var acts []forge.Act
	for _, e := range list {
		if e.Action == "add" {
			acts = append(acts, forge.Act{Kind: slot.Labeled, What: e.Label.Name, By: person(e.User.Username), At: when(e.CreatedAt)})
		}
	}
	return acts, err
}
