package gitlab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
)

// settled is how old the newest change must be to be remembered: GraphQL writes times in
// whole seconds, and a second change in the same one could not be told from the first.
const settled = 2 * time.Second

// newest asks for what changed last, issues and merge requests in one request, which is
// all that a project costs while nothing changes. More than is listed cannot have
// changed unseen: what changes goes to the front.
const newest = `query($path: ID!, $since: Time) { project(fullPath: $path) {
  issues(updatedAfter: $since, sort: UPDATED_DESC, first: 50) { nodes { iid updatedAt } }
  mergeRequests(updatedAfter: $since, sort: UPDATED_DESC, first: 50) { nodes { iid updatedAt } }
} }`

type nodes struct {
	Nodes []struct {
		IID     string    `json:"iid"`
		Updated time.Time `json:"updatedAt"`
	} `json:"nodes"`
}

// look is what one request told of a project: nothing, if it could not be asked so.
type look struct {
	seen forge.Seen
	at   time.Time
}

// quick looks at what changed last. Only a limit is an error: the lists tell the rest.
func (c *Client) quick(ctx context.Context, op, path string, since time.Time) (look, error) {
	with := map[string]any{"path": path}
	if !since.IsZero() {
		with["since"] = since.UTC().Format(time.RFC3339)
	}
	var told struct {
		Data struct {
			Project *struct {
				Issues nodes `json:"issues"`
				Merges nodes `json:"mergeRequests"`
			} `json:"project"`
		} `json:"data"`
		Errors []struct{} `json:"errors"`
	}
	resp, err := c.api.GraphQL.Do(gl.GraphQLQuery{Query: newest, Variables: with}, &told, gl.WithContext(ctx))
	if err != nil {
		if err := failed(op, err, resp); limited(err) || ctx.Err() != nil {
			return look{}, err
		}
		return look{}, nil
	}
	at, err := date(op, resp)
	if v := told.Data.Project; err == nil && v != nil && len(told.Errors) == 0 {
		return look{forge.Seen{ETag: mark(since, at, v.Issues, v.Merges)}, at}, nil
	}
	return look{}, nil
}

// mark stands for what was seen since a time; "" if that is too new to be relied on.
func mark(since, at time.Time, lists ...nodes) string {
	sum := sha256.New()
	for _, l := range lists {
		for _, n := range l.Nodes {
			if n.Updated.After(at.Add(-settled)) {
				return ""
			}
			fmt.Fprintln(sum, n.IID, n.Updated.Unix())
		}
		fmt.Fprintln(sum)
	}
	return since.UTC().Format(time.RFC3339) + " " + hex.EncodeToString(sum.Sum(nil)[:16])
}

// unchanged reports whether two marks say the same, the later one of no earlier time.
func unchanged(then, now string) bool {
	since, was, ok := strings.Cut(then, " ")
	until, is, ok2 := strings.Cut(now, " ")
	return ok && ok2 && was == is && until >= since
}
