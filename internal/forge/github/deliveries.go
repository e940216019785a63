package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
)

// maxAttempts is how often one delivery is sent in all: a receiver that always says no
// is not asked for ever.
const maxAttempts = 3

// Redeliver implements forge.Poller for webhooks of the repository whose address Hook
// says is ours; others are somebody else's. A delivery that arrived by any of its
// attempts is left alone. Deliveries of an App's own webhook need the App's key and
// not a token: they are not looked at.
func (c *Client) Redeliver(ctx context.Context, repo string, since time.Time) (int, error) {
	op := "ask for the failed deliveries of " + repo
	if c.Hook == nil {
		return 0, &forge.Error{Kind: forge.ErrUnsupported, Op: op, Detail: "no webhook is known to be ours"}
	}
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return 0, err
	}
	hooks, _, err := list(ctx, c, op, path+"/hooks", nil, (*github.Hook).GetID)
	if errors.Is(err, forge.ErrForbidden) || errors.Is(err, forge.ErrNotFound) {
		return 0, &forge.Error{Kind: forge.ErrUnsupported, Op: op, Detail: "the token may not read webhooks", Err: err}
	}
	if err != nil {
		return 0, err
	}
	n := 0
	for _, h := range hooks {
		if !h.GetActive() || !c.Hook(h.GetConfig().GetURL()) {
			continue
		}
		place := fmt.Sprintf("%s/hooks/%d/deliveries", path, h.GetID())
		failed, err := c.failed(ctx, op, place, since)
		if err != nil {
			return n, err
		}
		for _, d := range failed {
			_, err := c.do(ctx, op, http.MethodPost, fmt.Sprintf("%s/%d/attempts", place, d.GetID()), nil, nil)
			if accepted := new(github.AcceptedError); err != nil && !errors.As(err, &accepted) {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// failed lists the last attempts of deliveries that never arrived, oldest first. GitHub
// lists attempts, newest first; those of one delivery have its GUID.
func (c *Client) failed(ctx context.Context, op, place string, since time.Time) ([]*github.HookDelivery, error) {
	attempts, _, err := all(op, nil, (*github.HookDelivery).GetID, func(query url.Values) ([]*github.HookDelivery, *github.Response, error) {
		var page []*github.HookDelivery
		resp, err := c.get(ctx, op, place+"?"+query.Encode(), &page)
		if err == nil && len(page) > 0 && page[len(page)-1].GetDeliveredAt().Before(since) {
			resp.Cursor, resp.NextPage, resp.After = "", 0, "" // older ones are not wanted
		}
		return page, resp, err
	})
	if err != nil {
		return nil, err
	}
	tries, arrived := map[string]int{}, map[string]bool{}
	for _, d := range attempts {
		tries[d.GetGUID()]++
		arrived[d.GetGUID()] = arrived[d.GetGUID()] || d.GetStatusCode() >= 200 && d.GetStatusCode() < 300
	}
	var failed []*github.HookDelivery
	for i := len(attempts) - 1; i >= 0; i-- {
		d := attempts[i]
		if d.GetDeliveredAt().Before(since) || arrived[d.GetGUID()] || tries[d.GetGUID()] >= maxAttempts {
			continue
		}
		arrived[d.GetGUID()] = true // asked for once is enough
		failed = append(failed, d)
	}
	return failed, nil
}
