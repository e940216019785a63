package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reviews implements forge.Reader. Unresolved threads are told by GraphQL alone.
func (c *Client) Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error) {
	op := "read the reviews of " + ref.String()
	ctx, path, err := c.at(ctx, ref.Repo())
	if err != nil {
		return forge.Reviews{}, err
	}
	raw, _, err := list(ctx, c, op, fmt.Sprintf("%s/pulls/%d/reviews", path, ref.Number()), nil, (*github.PullRequestReview).GetID)
	if err != nil {
		return forge.Reviews{}, err
	}
	talks, err := c.talks(ctx, op, ref)
	if err != nil {
		return forge.Reviews{}, err
	}
	return forge.Reviews{Reviews: lastWords(raw), Unresolved: talks, Known: true}, nil
}

// lastWords gives the last word of each reviewer. A comment takes nothing back: what
// was approved or asked for stands until it is replaced or dismissed. GitHub dismisses
// a review by changing its state in its place.
func lastWords(raw []*github.PullRequestReview) []forge.Review {
	var order []string
	last := map[string]forge.Review{}
	for _, r := range raw { // by time
		word := forge.Review{
			ID: r.GetID(), Author: person(r.User, nil, r.GetAuthorAssociation()), State: strings.ToLower(r.GetState()),
			Body: r.GetBody(), Sha: r.GetCommitID(), At: r.GetSubmittedAt().Time, UpdatedText: text(r.GetSubmittedAt()),
		}
		who := word.Author.Login
		if who == ghost { // many accounts that are gone
			who = fmt.Sprint(ghost, word.ID)
		}
		before := last[who]
		stands := before.State == "approved" || before.State == "changes_requested"
		if word.State == "pending" || word.State == "commented" && stands { // pending: not submitted yet
			continue
		}
		order = append(slices.DeleteFunc(order, func(s string) bool { return s == who }), who)
		last[who] = word
	}
	var words []forge.Review
	for _, who := range order {
		words = append(words, last[who])
	}
	return words
}

const threadsQuery = `query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved comments(last: 1) { nodes {
        fullDatabaseId body createdAt publishedAt updatedAt authorAssociation author { __typename login }
      } } }
    }
  } }
}`

type threadsAnswer struct {
	Repository *struct {
		PullRequest *struct {
			ReviewThreads struct {
				PageInfo cursor       `json:"pageInfo"`
				Nodes    []threadNode `json:"nodes"`
			} `json:"reviewThreads"`
		} `json:"pullRequest"`
	} `json:"repository"`
}

type threadNode struct {
	ID         string `json:"id"`
	IsResolved bool   `json:"isResolved"`
	Comments   struct {
		Nodes []struct {
			FullDatabaseID    bigInt    `json:"fullDatabaseId"`
			Body              string    `json:"body"`
			CreatedAt         time.Time `json:"createdAt"`
			PublishedAt       time.Time `json:"publishedAt"`
			UpdatedAt         time.Time `json:"updatedAt"`
			AuthorAssociation string    `json:"authorAssociation"`
			Author            *actor    `json:"author"`
		} `json:"nodes"`
	} `json:"comments"`
}

func (c *Client) talks(ctx context.Context, op string, ref slot.Ref) ([]forge.Talk, error) {
	variables := map[string]any{"owner": ref.Owner(), "name": ref.Name(), "number": ref.Number()}
	var talks []forge.Talk
	for {
		var answer threadsAnswer
		if err := c.query(ctx, op, threadsQuery, variables, &answer); err != nil {
			return nil, err
		}
		if answer.Repository == nil || answer.Repository.PullRequest == nil {
			return nil, &forge.Error{Kind: forge.ErrNotFound, Op: op}
		}
		page := answer.Repository.PullRequest.ReviewThreads
		for _, n := range page.Nodes {
			if !n.IsResolved {
				talks = append(talks, n.words())
			}
		}
		if !page.PageInfo.next(variables) {
			return talks, nil
		}
	}
}

func (n threadNode) words() forge.Talk {
	talk := forge.Talk{ID: n.ID}
	for _, c := range n.Comments.Nodes {
		talk.Last = forge.Comment{
			ID: int64(c.FullDatabaseID), Author: c.Author.person(c.AuthorAssociation), Body: c.Body,
			Created: c.CreatedAt, Shown: c.PublishedAt, Updated: c.UpdatedAt, UpdatedText: text(github.Timestamp{Time: c.UpdatedAt}),
		}
	}
	return talk
}
