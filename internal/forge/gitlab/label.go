package gitlab

import (
	"context"
	"slices"
	"strings"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// change is what is changed of a thread itself.
type change struct {
	add, remove *gl.LabelOptions
	lock        *bool
}

// update changes a thread. GitLab leaves out what the token may not do, and answers 200
// all the same: done looks at what came of it.
func (c *Client) update(ctx context.Context, op string, ref slot.Ref, o change, done func(labels []string, locked bool) bool) error {
	var labels []string
	var locked bool
	err := c.write(ctx, op, ref, func(p place, with gl.RequestOptionFunc) (*gl.Response, error) {
		if p.merge {
			v, resp, err := c.api.MergeRequests.UpdateMergeRequest(p.project, p.number,
				&gl.UpdateMergeRequestOptions{AddLabels: o.add, RemoveLabels: o.remove, DiscussionLocked: o.lock}, with)
			if err == nil {
				labels, locked = v.Labels, v.DiscussionLocked
			}
			return resp, err
		}
		v, resp, err := c.api.Issues.UpdateIssue(p.project, p.number,
			&gl.UpdateIssueOptions{AddLabels: o.add, RemoveLabels: o.remove, DiscussionLocked: o.lock}, with)
		if err == nil {
			labels, locked = v.Labels, v.DiscussionLocked
		}
		return resp, err
	})
	if err == nil && !done(labels, locked) {
		err = &forge.Error{Kind: forge.ErrForbidden, Op: op, Detail: "GitLab answered, and did not do it"}
	}
	return err
}

// AddLabel implements forge.Writer.
func (c *Client) AddLabel(ctx context.Context, ref slot.Ref, label string) error {
	op := "label " + ref.String()
	if err := one(op, label); err != nil {
		return err
	}
	return c.update(ctx, op, ref, change{add: &gl.LabelOptions{label}}, func(labels []string, _ bool) bool {
		return slices.Contains(labels, label)
	})
}

// RemoveLabel implements forge.Writer.
func (c *Client) RemoveLabel(ctx context.Context, ref slot.Ref, label string) error {
	op := "take a label from " + ref.String()
	if err := one(op, label); err != nil {
		return err
	}
	return c.update(ctx, op, ref, change{remove: &gl.LabelOptions{label}}, func(labels []string, _ bool) bool {
		return !slices.Contains(labels, label)
	})
}

// one refuses what GitLab would read as several labels, or as none.
func one(op, label string) error {
	if label == "" || label != strings.TrimSpace(label) || strings.Contains(label, ",") {
		return &forge.Error{Kind: forge.ErrRefused, Op: op, Detail: "a label of GitLab's has no comma, and no space at its ends"}
	}
	return nil
}

// Lock implements forge.Writer.
func (c *Client) Lock(ctx context.Context, ref slot.Ref) error {
	return c.lock(ctx, "lock "+ref.String(), ref, true)
}

// Unlock implements forge.Writer.
func (c *Client) Unlock(ctx context.Context, ref slot.Ref) error {
	return c.lock(ctx, "unlock "+ref.String(), ref, false)
}

func (c *Client) lock(ctx context.Context, op string, ref slot.Ref, on bool) error {
	return c.update(ctx, op, ref, change{lock: &on}, func(_ []string, locked bool) bool { return locked == on })
}
