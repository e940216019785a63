package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

// query asks the GraphQL API, which fails with a status of 200. An answer with errors
// is none, whatever data came with them: what is missing there would read as "none".
func (c *Client) query(ctx context.Context, op, query string, variables map[string]any, into any) error {
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []queryError    `json:"errors"`
	}
	body := map[string]any{"query": query, "variables": variables}
	resp, err := c.do(ctx, op, http.MethodPost, c.graphql, body, &answer)
	if err != nil {
		return err
	}
	for _, e := range answer.Errors {
		// Both words are in use; X-RateLimit-Remaining need not be 0 with them.
		// https://github.com/octokit/plugin-throttling.js/pull/636
		if e.Type == "RATE_LIMITED" || e.Type == "RATE_LIMIT" {
			return transport.Error(op, c.transport.LimitTold(resp.Header), resp.Response)
		}
	}
	if len(answer.Errors) > 0 {
		return answer.Errors[0].words(op)
	}
	if len(answer.Data) == 0 || string(answer.Data) == "null" {
		return empty(op)
	}
	return transport.Error(op, json.Unmarshal(answer.Data, into), resp.Response)
}

type queryError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (e queryError) words(op string) error {
	out := &forge.Error{Op: op, Status: http.StatusOK, Detail: strings.Join(strings.Fields(e.Message), " ")}
	switch e.Type {
	case "NOT_FOUND":
		out.Kind = forge.ErrNotFound
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		out.Kind = forge.ErrForbidden
	}
	return out
}

// cursor is GraphQL's place in a list.
type cursor struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}

// next puts the next page's place into variables.
func (p cursor) next(variables map[string]any) bool {
	if !p.HasNextPage || p.EndCursor == "" || p.EndCursor == variables["after"] {
		return false
	}
	variables["after"] = p.EndCursor
	return true
}

// actor is a person as GraphQL has it; null for an account that is gone.
type actor struct {
	Login string `json:"login"`
	Type  string `json:"__typename"`
}

func (a *actor) person(association string) forge.Person {
	if a == nil {
		return person(nil, nil, association)
	}
	return person(&github.User{Login: &a.Login, Type: &a.Type}, nil, association)
}

// bigInt is a number that GraphQL writes as a text.
type bigInt int64

// UnmarshalJSON reads "12", 12 and null.
func (n *bigInt) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	*n = bigInt(v)
	return err
}
