package github

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

const closingQuery = `query Closing($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { issueOrPullRequest(number: $number) {
    __typename
    ... on Issue { pulls: closedByPullRequestsReferences(first: 50, after: $after, includeClosedPrs: true) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title state isDraft createdAt updatedAt closedAt mergedAt authorAssociation
        author { __typename login } repository { nameWithOwner databaseId }
        headRefName headRefOid headRepository { nameWithOwner } baseRefName baseRefOid mergeCommit { oid }
      }
    } }
    ... on PullRequest { issues: closingIssuesReferences(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title state stateReason createdAt updatedAt closedAt authorAssociation
        author { __typename login } repository { nameWithOwner databaseId }
      }
    } }
  } }
}`

type linkPage struct {
	PageInfo cursor      `json:"pageInfo"`
	Nodes    []*linkNode `json:"nodes"`
}

type linkNode struct {
	Number            int       `json:"number"`
	Title             string    `json:"title"`
	State             string    `json:"state"` // OPEN, CLOSED, MERGED
	StateReason       string    `json:"stateReason"`
	IsDraft           bool      `json:"isDraft"`
	CreatedAt         time.Time `json:"createdAt"`
	UpdatedAt         time.Time `json:"updatedAt"`
	ClosedAt          time.Time `json:"closedAt"`
	MergedAt          time.Time `json:"mergedAt"`
	AuthorAssociation string    `json:"authorAssociation"`
	Author            *actor    `json:"author"`
	Repository        linkRepo  `json:"repository"`
	HeadRefName       string    `json:"headRefName"`
	HeadRefOid        string    `json:"headRefOid"`
	HeadRepository    *linkRepo `json:"headRepository"`
	BaseRefName       string    `json:"baseRefName"`
	BaseRefOid        string    `json:"baseRefOid"`
	MergeCommit       *struct {
		Oid string `json:"oid"`
	} `json:"mergeCommit"`
}

type linkRepo struct {
	NameWithOwner string `json:"nameWithOwner"`
	DatabaseID    int64  `json:"databaseId"`
}

// Closing implements forge.Reader: what GitHub itself links, by keyword in a
// description or by hand. Closed and merged pull requests are among them.
func (c *Client) Closing(ctx context.Context, ref slot.Ref) ([]forge.Thread, error) {
	op := "read what is linked to " + ref.String()
	ctx, _, err := c.at(ctx, ref.Repo())
	if err != nil {
		return nil, err
	}
	variables := map[string]any{"owner": ref.Owner(), "name": ref.Name(), "number": ref.Number()}
	var threads []forge.Thread
	for {
		var answer struct {
			Repository *struct {
				Thread *struct {
					Pulls  *linkPage `json:"pulls"`
					Issues *linkPage `json:"issues"`
				} `json:"issueOrPullRequest"`
			} `json:"repository"`
		}
		if err := c.query(ctx, op, closingQuery, variables, &answer); err != nil {
			return nil, err
		}
		if answer.Repository == nil || answer.Repository.Thread == nil {
			return nil, &forge.Error{Kind: forge.ErrNotFound, Op: op}
		}
		page, pull := answer.Repository.Thread.Pulls, true
		if page == nil {
			page, pull = answer.Repository.Thread.Issues, false
		}
		if page == nil {
			return nil, empty(op)
		}
		for _, n := range page.Nodes {
			t, err := c.linked(op, n, pull)
			if err != nil {
				return nil, err
			}
			threads = append(threads, t)
		}
		if !page.PageInfo.next(variables) {
			return threads, nil
		}
	}
}

func (c *Client) linked(op string, n *linkNode, pull bool) (forge.Thread, error) {
	if n == nil {
		return forge.Thread{}, &forge.Error{Kind: forge.ErrForbidden, Op: op, Detail: "one that is linked may not be seen"}
	}
	ref, err := c.ref(op, n.Repository.NameWithOwner, n.Number)
	if err != nil {
		return forge.Thread{}, err
	}
	t := forge.Thread{
		Ref: ref, RepoID: strconv.FormatInt(n.Repository.DatabaseID, 10), Pull: pull, State: strings.ToLower(n.State),
		Title: n.Title, Author: n.Author.person(n.AuthorAssociation), Comments: -1, Draft: n.IsDraft,
		Reason: strings.ToLower(n.StateReason), Created: n.CreatedAt, Closed: n.ClosedAt,
		Updated: n.UpdatedAt, UpdatedText: text(github.Timestamp{Time: n.UpdatedAt}),
	}
	if !n.MergedAt.IsZero() {
		t.Closed = n.MergedAt
	}
	if n.MergeCommit != nil {
		t.MergeSha = n.MergeCommit.Oid
	}
	if !pull {
		return t, nil
	}
	t.Base = forge.End{Repo: ref.Repo(), Branch: n.BaseRefName, Sha: n.BaseRefOid}
	t.Head = forge.End{Branch: n.HeadRefName, Sha: n.HeadRefOid}
	if n.HeadRepository != nil {
		t.Head.Repo = c.host + "/" + strings.ToLower(n.HeadRepository.NameWithOwner)
	}
	return t, nil
}
