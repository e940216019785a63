package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// Limits of GitHub's content: 65,536 characters of a comment, which as many bytes
// never exceed, and 50 of a label's name.
const (
	maxComment = 65536
	maxLabel   = 50
)

// Client is a forge.Client. Any number of goroutines may use it.
type Client struct {
	// Hook reports whether the address of a repository's webhook is one of ours.
	// Redeliver touches no other. Nil: none is. It is set before the first call.
	Hook func(address string) bool

	host      string
	api       *github.Client
	graphql   string // path of the GraphQL API on the same host
	transport *transport.Transport
	pause     func(ctx context.Context, d time.Duration) error
}

var _ forge.Client = (*Client)(nil)

// New makes the client of a canonical host. An empty api is the transport's. The
// GraphQL API is looked for beside it: /api/graphql for /api/v3, else /graphql.
func New(host, api string, t *transport.Transport) (*Client, error) {
	if api == "" {
		api = t.API()
	}
	u, err := url.Parse(api)
	if err != nil {
		return nil, errors.New("the address of GitHub's API cannot be read")
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	base := u.String()
	lib, err := github.NewClient(github.WithHTTPClient(t.Client()), github.WithURLs(&base, nil), github.WithDisableRateLimitCheck(),
		github.WithUserAgent("oneslot"))
	if err != nil {
		return nil, fmt.Errorf("the address of GitHub's API: %w", err)
	}
	prefix, _ := strings.CutSuffix(u.Path, "v3/")
	return &Client{host: host, api: lib, graphql: prefix + "graphql", transport: t, pause: clock.Pause}, nil
}

// Capabilities declares what GitHub can do.
func (c *Client) Capabilities() forge.Capabilities {
	return forge.Capabilities{
		Lags: true, ETags: true, Locks: true, Threads: true, Links: true, Redelivers: c.Hook != nil,
		Limits: forge.Limits{Comment: maxComment, Label: maxLabel},
	}
}

// at gives the path of a repository in the API, and the context for calls about it.
func (c *Client) at(ctx context.Context, repo string) (context.Context, string, error) {
	owner, name, err := c.split(repo)
	if err != nil {
		return ctx, "", err
	}
	return transport.ForOwner(ctx, owner), "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name), nil
}

func (c *Client) split(repo string) (owner, name string, err error) {
	path, ours := strings.CutPrefix(repo, c.host+"/")
	owner, name, two := strings.Cut(path, "/")
	if !ours || !two || owner == "" || name == "" || strings.Contains(name, "/") {
		return "", "", &forge.Error{Op: "read " + repo, Detail: "it is no repository of " + c.host}
	}
	return owner, name, nil
}

// ref names a thread by what a payload says of it.
func (c *Client) ref(op, repo string, number int) (slot.Ref, error) {
	ref, err := slot.ParseCanonical(fmt.Sprintf("%s/%s#%d", c.host, strings.ToLower(repo), number))
	if err != nil {
		return slot.Ref{}, &forge.Error{Op: op, Detail: "the answer names no thread", Err: err}
	}
	return ref, nil
}

// name is the canonical name of a repository; empty if there is none.
func (c *Client) name(r *github.Repository) string {
	if r.GetFullName() == "" {
		return ""
	}
	return c.host + "/" + strings.ToLower(r.GetFullName())
}

// do sends one request and reads its answer into into, unless that is nil. The answer
// is returned with an error, too, if there was one.
func (c *Client) do(ctx context.Context, op, method, path string, body, into any, opts ...github.RequestOption) (*github.Response, error) {
	req, err := c.api.NewRequest(ctx, method, path, body, opts...)
	if err != nil {
		return nil, transport.Error(op, err, nil)
	}
	resp, err := c.api.BareDo(req)
	switch {
	case err != nil && resp == nil:
		return nil, transport.Error(op, err, nil)
	case err != nil && resp.StatusCode == http.StatusNotModified: // most answers of a quiet day: no words are made
		return resp, &forge.Error{Op: op, Status: resp.StatusCode, Detail: "nothing changed"}
	case err != nil:
		return resp, transport.Error(op, err, resp.Response)
	}
	defer drain(resp.Body)
	if into == nil {
		return resp, nil
	}
	// The library's own Do takes an empty body for an empty list.
	if err := json.NewDecoder(resp.Body).Decode(into); errors.Is(err, io.EOF) {
		return resp, empty(op)
	} else if err != nil {
		return resp, transport.Error(op, err, resp.Response)
	}
	return resp, nil
}

// get reads one thing.
func (c *Client) get(ctx context.Context, op, path string, into any, opts ...github.RequestOption) (*github.Response, error) {
	return c.do(ctx, op, http.MethodGet, path, nil, into, opts...)
}

// drain lets the connection be used again.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}

func empty(op string) error {
	return &forge.Error{Op: op, Detail: "the answer is empty"}
}
