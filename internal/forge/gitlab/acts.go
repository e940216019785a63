package gitlab

import (
	"context"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Acts implements forge.Historian for labels and states. Who assigned somebody is told
// by notes alone, in words.
func (c *Client) Acts(ctx context.Context, ref slot.Ref) ([]forge.Act, error) {
	op := "read who labelled, closed or opened " + ref.String()
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
	if err != nil {
		return nil, err
	}
	states, err := c.states(ctx, op, p)
	var acts []forge.Act
	for _, e := range states {
		kind := map[string]slot.EventKind{"closed": slot.Closed, "merged": slot.Merged, "reopened": slot.Reopened}[string(e.State)]
		if kind != "" && e.User != nil {
			acts = append(acts, forge.Act{Kind: kind, By: person(e.User.Username), At: when(e.CreatedAt)})
		}
	}
	for _, e := range list {
		if e.Action == "add" {
			acts = append(acts, forge.Act{Kind: slot.Labeled, What: e.Label.Name, By: person(e.User.Username), At: when(e.CreatedAt)})
		}
	}
	return acts, err
}

// states reads when a thread was closed, merged and opened again.
func (c *Client) states(ctx context.Context, op string, p place) ([]*gl.StateEvent, error) {
	list, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.StateEvent, *gl.Response, error) {
		o := &gl.ListStateEventsOptions{ListOptions: hundred}
		if p.merge {
			return c.api.ResourceStateEvents.ListMergeStateEvents(p.project, p.number, o, with...)
		}
		return c.api.ResourceStateEvents.ListIssueStateEvents(p.project, p.number, o, with...)
	})
	return list, err
}
