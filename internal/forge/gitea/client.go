package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// Kinds of forges that this client asks.
const (
	Gitea   = "gitea"
	Forgejo = "forgejo"
	Gogs    = "gogs"
)

// Client is a forge.Client for one host.
type Client struct {
	host string
	base string // without /api/v1, which the library adds
	http *http.Client
	kind string
	// again are the waits before a list known to be short is read again.
	again []time.Duration
	// recheck is the wait before the second look at what may be a conflict.
	recheck time.Duration
}

var _ forge.Client = (*Client)(nil)

// New makes a client of a host. The API's address may end in /api/v1; requests go
// out through t alone. No request is made.
func New(host, api string, t *transport.Transport, kind string) (*Client, error) {
	if kind != Gitea && kind != Forgejo && kind != Gogs {
		return nil, fmt.Errorf("%q is not gitea, forgejo or gogs", kind)
	}
	return &Client{
		host: host, base: strings.TrimSuffix(strings.TrimRight(api, "/"), "/api/v1"), http: t.Client(), kind: kind,
		again:   []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second},
		recheck: time.Second,
	}, nil
}

// Header sets a token as all three understand it: Gogs knows no other scheme.
func Header(h http.Header, token string) { h.Set("Authorization", "token "+token) }

// Capabilities declares what the forge can do; the contract suite asserts it. The
// size of a comment is left to the forge's database: MySQL's smallest text holds
// 65,535 bytes. A label is as long as the forge's own form lets it be.
func (c *Client) Capabilities() forge.Capabilities {
	return forge.Capabilities{
		Locks: c.kind == Gitea, Threads: c.kind != Gogs,
		Limits: forge.Limits{Comment: 65_000, Label: 50},
	}
}

// Host is the host that the client asks, with its port.
func (c *Client) Host() string { return c.host }

// sdk gives the library a context, which it takes once and for all: so each call has
// a client of its own. An empty version keeps it from asking for the server's.
func (c *Client) sdk(ctx context.Context) (*gitea.Client, error) {
	return gitea.NewClient(c.base, gitea.SetHTTPClient(c.http), gitea.SetContext(ctx), gitea.SetGiteaVersion(""))
}

// ask makes one call of the library. op is what it is about, for people.
func ask[T any](ctx context.Context, c *Client, op string, call func(*gitea.Client) (T, *gitea.Response, error)) (T, *gitea.Response, error) {
	var none T
	lib, err := c.sdk(ctx)
	if err != nil {
		return none, nil, transport.Error(op, err, nil)
	}
	v, resp, err := call(lib)
	if err != nil {
		return none, nil, transport.Error(op, err, raw(resp))
	}
	return v, resp, nil
}

func raw(resp *gitea.Response) *http.Response {
	if resp == nil {
		return nil
	}
	return resp.Response
}

// unsupported is the answer for what a forge has nothing for.
func (c *Client) unsupported(op string) error {
	return &forge.Error{Kind: forge.ErrUnsupported, Op: op, Detail: c.kind + " has no such API"}
}

// thread splits a ref of ours into what the API wants.
func (c *Client) thread(op string, ref slot.Ref) (owner, name string, number int64, err error) {
	if ref.Kind() != slot.RefIssue || ref.Host() != c.host {
		return "", "", 0, &forge.Error{Kind: forge.ErrUnsupported, Op: op, Detail: "it is no issue or pull request of " + c.host}
	}
	return ref.Owner(), ref.Name(), int64(ref.Number()), nil
}

// repo splits a canonical repository.
func (c *Client) repo(op, repo string) (owner, name string, err error) {
	path, ok := strings.CutPrefix(repo, c.host+"/")
	owner, name, two := strings.Cut(path, "/")
	if !ok || !two || owner == "" || name == "" || strings.Contains(name, "/") {
		return "", "", &forge.Error{Kind: forge.ErrUnsupported, Op: op, Detail: "it is no repository of " + c.host}
	}
	return owner, name, nil
}

// canonical is the name of a repository as we write it; "" if there is none.
func (c *Client) canonical(fullName string) string {
	if fullName == "" {
		return ""
	}
	return c.host + "/" + strings.ToLower(fullName)
}

// date is the forge's clock when it answered.
func date(op string, resp *gitea.Response) (time.Time, error) {
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, &forge.Error{Op: op, Status: resp.StatusCode, Detail: "the answer does not say the forge's time"}
	}
	return at, nil
}

// text is a time as the forge wrote it: it writes RFC 3339, with its own zone.
func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func status(err error) int {
	if e := new(forge.Error); errors.As(err, &e) {
		return e.Status
	}
	return 0
}
