package gitea

import (
	"context"
	"net/http"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// AddLabel implements forge.Writer. Labels are set by number: the repository's is
// looked up, and made if it is missing.
func (c *Client) AddLabel(ctx context.Context, ref slot.Ref, label string) error {
	op := "label " + ref.String()
	set, err := c.issueLabel(ctx, op, ref, label)
	if set != nil || err != nil {
		return err
	}
	owner, name, _, err := c.thread(op, ref)
	if err != nil {
		return err
	}
	known, _, err := all(ctx, c, list[*gitea.Label]{
		op: op, id: by(func(l *gitea.Label) int64 { return l.ID }),
		get: func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.Label, *gitea.Response, error) {
			return lib.ListRepoLabels(owner, name, gitea.ListLabelsOptions{ListOptions: page})
		},
	})
	if err != nil {
		return err
	}
	have := find(known, label)
	if have == nil {
		have, err = write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, _ int64) (*gitea.Label, *gitea.Response, error) {
			return lib.CreateLabel(owner, name, gitea.CreateLabelOption{Name: label, Color: labelColor})
		})
		if err == nil && have.ID == 0 {
			err = &forge.Error{Op: op, Detail: "the answer names no label"}
		}
		if err != nil {
			return err
		}
	}
	_, err = write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, number int64) ([]*gitea.Label, *gitea.Response, error) {
		return lib.AddIssueLabels(owner, name, number, gitea.IssueLabelsOption{Labels: []int64{have.ID}})
	})
	return err
}

// RemoveLabel implements forge.Writer.
func (c *Client) RemoveLabel(ctx context.Context, ref slot.Ref, label string) error {
	op := "take a label from " + ref.String()
	set, err := c.issueLabel(ctx, op, ref, label)
	if set == nil || err != nil {
		return err
	}
	_, err = write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, number int64) (struct{}, *gitea.Response, error) {
		resp, err := lib.DeleteIssueLabel(owner, name, number, set.ID)
		return struct{}{}, resp, err
	})
	if s := status(err); s == http.StatusNotFound || s == http.StatusUnprocessableEntity {
		// Somebody else was faster, or something is wrong: look again.
		set, again := c.issueLabel(ctx, op, ref, label)
		if again != nil || set == nil {
			return again
		}
	}
	return err
}

// issueLabel finds a label that is set; nil if it is not.
func (c *Client) issueLabel(ctx context.Context, op string, ref slot.Ref, label string) (*gitea.Label, error) {
	issue, err := c.issue(ctx, op, ref)
	if err != nil {
		return nil, err
	}
	return find(issue.Labels, label), nil
}

func find(ls []*gitea.Label, name string) *gitea.Label {
	for _, l := range ls {
		if l != nil && l.Name == name {
			return l
		}
	}
	return nil
}
