package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Comments implements forge.Reader. The counter is read first: a note that goes while
// pages are read, and lets another slip between two pages, makes the list short, which
// is noticed. GitLab's own notes of changes are not among them, nor those on lines, which
// the counter counts.
func (c *Client) Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error) {
	op := "read the comments of " + ref.String()
	p, err := c.place(op, ref)
	if err != nil {
		return forge.Comments{}, err
	}
	for try := 0; ; try++ {
		found, missing, err := c.notes(ctx, op, p)
		if err != nil || missing <= 0 {
			return found, err
		}
		short := &forge.Error{Kind: forge.ErrShort, Op: op,
			Detail: fmt.Sprintf("%d are missing (or the token may not see internal ones)", missing)}
		if try == len(c.again) {
			return forge.Comments{}, short
		}
		if short.Err = clock.Pause(ctx, c.again[try]); short.Err != nil {
			return forge.Comments{}, short
		}
	}
}

// notes reads a conversation once, where it is now, and tells how many notes are missing
// by its counter.
func (c *Client) notes(ctx context.Context, op string, p place) (out forge.Comments, missing int, err error) {
	t, err := c.thread(ctx, op, p)
	if err != nil {
		return forge.Comments{}, 0, err
	}
	if p, err = c.place(op, t.Ref); err != nil {
		return forge.Comments{}, 0, err
	}
	list, first, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.Note, *gl.Response, error) {
		by, asc := gl.Ptr("created_at"), gl.Ptr("asc")
		if p.merge {
			return c.api.Notes.ListMergeRequestNotes(p.project, p.number, &gl.ListMergeRequestNotesOptions{ListOptions: hundred, OrderBy: by, Sort: asc}, with...)
		}
		return c.api.Notes.ListIssueNotes(p.project, p.number, &gl.ListIssueNotesOptions{ListOptions: hundred, OrderBy: by, Sort: asc}, with...)
	})
	if err != nil {
		return forge.Comments{}, 0, err
	}
	if out.At, err = date(op, first); err != nil {
		return forge.Comments{}, 0, err
	}
	slices.SortFunc(list, func(a, b *gl.Note) int { return cmp.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b *gl.Note) bool { return a.ID == b.ID })
	missing = t.Comments
	for _, v := range list {
		if v.System {
			continue
		}
		missing--
		if v.Type != gl.DiffNote {
			out.List = append(out.List, note(v))
		}
	}
	return out, missing, nil
}

// Comment implements forge.Writer.
func (c *Client) Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error) {
	body = harmless(body)
	return c.note(ctx, "comment on "+ref.String(), ref, func(p place, with gl.RequestOptionFunc) (*gl.Note, *gl.Response, error) {
		if p.merge {
			return c.api.Notes.CreateMergeRequestNote(p.project, p.number, &gl.CreateMergeRequestNoteOptions{Body: &body}, with)
		}
		return c.api.Notes.CreateIssueNote(p.project, p.number, &gl.CreateIssueNoteOptions{Body: &body}, with)
	})
}

// EditComment implements forge.Writer.
func (c *Client) EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error) {
	body = harmless(body)
	return c.note(ctx, fmt.Sprintf("edit comment %d of %s", id, ref), ref, func(p place, with gl.RequestOptionFunc) (*gl.Note, *gl.Response, error) {
		if p.merge {
			return c.api.Notes.UpdateMergeRequestNote(p.project, p.number, id, &gl.UpdateMergeRequestNoteOptions{Body: &body}, with)
		}
		return c.api.Notes.UpdateIssueNote(p.project, p.number, id, &gl.UpdateIssueNoteOptions{Body: &body}, with)
	})
}

func (c *Client) note(ctx context.Context, op string, ref slot.Ref, do func(place, gl.RequestOptionFunc) (*gl.Note, *gl.Response, error)) (forge.Comment, error) {
	var made *gl.Note
	err := c.write(ctx, op, ref, func(p place, with gl.RequestOptionFunc) (resp *gl.Response, err error) {
		made, resp, err = do(p, with)
		return resp, err
	})
	if err != nil {
		return forge.Comment{}, err
	}
	if made.ID == 0 {
		return forge.Comment{}, &forge.Error{Op: op, Detail: "the answer is not a comment"}
	}
	return note(made), nil
}

// quick is the start of a line that GitLab would carry out as a command of ours.
// https://docs.gitlab.com/user/project/quick_actions/
var quick = regexp.MustCompile(`(?m)^([ \t]*)/([a-zA-Z])`)

// harmless keeps texts of others, which a comment may repeat, from being commands: an
// escaped slash is a slash for readers alone.
func harmless(body string) string { return quick.ReplaceAllString(body, `$1\/$2`) }

// DeleteComment implements forge.Writer. A 404 alone does not tell that the comment is
// gone: the thread must be there to be seen.
func (c *Client) DeleteComment(ctx context.Context, ref slot.Ref, id int64) error {
	op := fmt.Sprintf("delete comment %d of %s", id, ref)
	err := c.write(ctx, op, ref, func(p place, with gl.RequestOptionFunc) (*gl.Response, error) {
		if p.merge {
			return c.api.Notes.DeleteMergeRequestNote(p.project, p.number, id, with)
		}
		return c.api.Notes.DeleteIssueNote(p.project, p.number, id, with)
	})
	if !errors.Is(err, forge.ErrNotFound) {
		return err
	}
	if _, unseen := c.Thread(ctx, ref); unseen != nil {
		return err
	}
	return nil
}
