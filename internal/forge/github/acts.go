package github

import (
	"context"
	"strconv"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Acts implements forge.Historian.
// https://docs.github.com/en/rest/using-the-rest-api/issue-event-types
func (c *Client) Acts(ctx context.Context, ref slot.Ref) ([]forge.Act, error) {
	ctx, path, err := c.at(ctx, ref.Repo())
	if err != nil {
		return nil, err
	}
	events, _, err := list(ctx, c, "read the events of "+ref.String(), path+"/issues/"+strconv.Itoa(ref.Number())+"/events", nil, (*github.IssueEvent).GetID)
	if err != nil {
		return nil, err
	}
	var acts []forge.Act
	for _, e := range events {
		a := forge.Act{By: person(e.Actor, e.PerformedViaGithubApp, ""), At: e.GetCreatedAt().Time}
		switch e.GetEvent() {
		case "labeled":
			a.Kind, a.What = slot.Labeled, e.GetLabel().GetName()
		case "assigned":
			a.Kind, a.What = slot.Assigned, e.GetAssignee().GetLogin()
			if e.Assigner != nil { // who is the actor of that was once the assignee
				a.By = person(e.Assigner, e.PerformedViaGithubApp, "")
			}
		case "review_requested":
			a.Kind, a.What = slot.ReviewRequested, e.GetRequestedReviewer().GetLogin()
			if e.ReviewRequester != nil {
				a.By = person(e.ReviewRequester, e.PerformedViaGithubApp, "")
			}
		case "closed":
			a.Kind = slot.Closed
		case "merged":
			a.Kind = slot.Merged
		case "reopened":
			a.Kind = slot.Reopened
		default:
			continue
		}
		acts = append(acts, a)
	}
	return acts, nil
}
