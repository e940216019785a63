package gitea

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reviews implements forge.Reader: of each reviewer the last verdict, or, without
// one, the last remark; and the conversations at lines that nobody resolved. Each
// review with comments at lines takes a request.
func (c *Client) Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error) {
	op := "read the reviews of " + ref.String()
	if c.kind == Gogs {
		return forge.Reviews{}, c.unsupported(op)
	}
	found, err := c.reviews(ctx, op, ref)
	if err != nil {
		return forge.Reviews{}, err
	}
	out := forge.Reviews{Known: true}
	out.Unresolved, err = c.talks(ctx, op, ref, found)
	if err != nil {
		return forge.Reviews{}, err
	}
	last := map[string]int{} // login to its place in out.Reviews
	for _, r := range found {
		v, ok := review(r)
		if !ok {
			continue
		}
		i, known := last[v.Author.Login]
		switch {
		case !known:
			last[v.Author.Login] = len(out.Reviews)
			out.Reviews = append(out.Reviews, v)
		case v.State != "commented" || out.Reviews[i].State == "commented":
			out.Reviews[i] = v
		}
	}
	slices.SortStableFunc(out.Reviews, func(a, b forge.Review) int { return a.At.Compare(b.At) })
	return out, nil
}

// pullReview is a review with what the library leaves out.
type pullReview struct {
	gitea.PullReview
	Updated time.Time `json:"updated_at"`
}

// given is when a review was given: of one that was a draft, submitted_at is when it
// was begun. That it was dismissed moves updated_at, too; then when is not known better.
func (r *pullReview) given() time.Time {
	if r.Dismissed || r.Updated.Before(r.Submitted) { // or it is not told
		return r.Submitted
	}
	return r.Updated
}

// reviews reads all reviews, in the order in which they were given. Drafts of others
// are counted, and left out.
func (c *Client) reviews(ctx context.Context, op string, ref slot.Ref) ([]*pullReview, error) {
	owner, name, number, err := c.thread(op, ref)
	if err != nil {
		return nil, err
	}
	found, _, err := all(ctx, c, list[*pullReview]{
		op: op, id: by(func(r *pullReview) int64 { return r.ID }), hides: true,
		get: func(_ *gitea.Client, page gitea.ListOptions) ([]*pullReview, *gitea.Response, error) {
			var part []*pullReview
			resp, err := c.direct(ctx, "GET", path("repos", owner, name, "pulls", strconv.FormatInt(number, 10), "reviews"), pageQuery(page), &part)
			return part, resp, err
		},
	})
	slices.SortFunc(found, func(a, b *pullReview) int {
		return cmp.Or(a.given().Compare(b.given()), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// review reads a review that was given: drafts of one's own and requests are none.
func review(r *pullReview) (forge.Review, bool) {
	words := map[gitea.ReviewStateType]string{
		gitea.ReviewStateApproved:       "approved",
		gitea.ReviewStateRequestChanges: "changes_requested",
		gitea.ReviewStateComment:        "commented",
	}
	word, ok := words[r.State]
	if !ok || r.Reviewer == nil {
		return forge.Review{}, false
	}
	if r.Dismissed {
		word = "dismissed"
	}
	return forge.Review{
		ID: r.ID, Author: person(r.Reviewer), State: word, Body: r.Body, Sha: r.CommitID,
		At: r.given(), UpdatedText: text(r.given()),
	}, true
}

// talks reads the conversations at lines. One is all comments at one line of one
// file; it is resolved by a mark on its first comment.
func (c *Client) talks(ctx context.Context, op string, ref slot.Ref, found []*pullReview) ([]forge.Talk, error) {
	owner, name, number, err := c.thread(op, ref)
	if err != nil {
		return nil, err
	}
	var remarks []*gitea.PullReviewComment
	for _, r := range found {
		if r.CodeCommentsCount == 0 || r.State == gitea.ReviewStatePending {
			continue
		}
		part, _, err := ask(ctx, c, op, func(lib *gitea.Client) ([]*gitea.PullReviewComment, *gitea.Response, error) {
			return lib.ListPullReviewComments(owner, name, number, r.ID)
		})
		if err != nil {
			return nil, err
		}
		if slices.Contains(part, nil) {
			return nil, &forge.Error{Op: op, Detail: "the answer has an empty comment"}
		}
		for _, v := range part { // of a draft: nobody had read them before it was given
			if v.Created.Before(r.given()) {
				v.Created = r.given()
			}
		}
		remarks = append(remarks, part...)
	}
	slices.SortFunc(remarks, func(a, b *gitea.PullReviewComment) int { return int(a.ID - b.ID) })
	type talk struct {
		forge.Talk
		resolved bool
	}
	var talks []*talk
	at := map[string]*talk{}
	for _, r := range remarks {
		place := fmt.Sprintf("%s\x00%d\x00%d", r.Path, r.LineNum, r.OldLineNum)
		if at[place] == nil {
			at[place] = &talk{Talk: forge.Talk{ID: strconv.FormatInt(r.ID, 10)}, resolved: r.Resolver != nil}
			talks = append(talks, at[place])
		}
		at[place].Last = forge.Comment{
			ID: r.ID, Author: person(r.Reviewer), Body: r.Body,
			Created: r.Created, Updated: r.Updated, UpdatedText: text(r.Updated),
		}
	}
	var open []forge.Talk
	for _, t := range talks {
		if !t.resolved {
			open = append(open, t.Talk)
		}
	}
	return open, nil
}
