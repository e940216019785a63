package gitlab

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// Client asks one GitLab. Any number of goroutines may use it.
type Client struct {
	host string
	api  *gl.Client
	// again are the waits before a list known to be short is read again.
	again []time.Duration
}

var _ forge.Client = (*Client)(nil)

// New makes a client of a canonical host. An empty api is the transport's; it may do
// without /api/v4. Requests go out through t alone. No request is made.
func New(host, api string, t *transport.Transport) (*Client, error) {
	if api == "" {
		api = t.API()
	}
	// The transport has the token, counts requests and knows limits: the library is
	// to repeat and to hold back nothing.
	lib, err := gl.NewAuthSourceClient(gl.Unauthenticated{}, gl.WithBaseURL(api), gl.WithHTTPClient(t.Client()),
		gl.WithoutRetries(), gl.WithCustomLimiter(unlimited{}), gl.WithUserAgent("oneslot"))
	if err != nil {
		return nil, errors.New("the address of GitLab's API cannot be read")
	}
	return &Client{host: host, api: lib, again: []time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second}}, nil
}

type unlimited struct{}

func (unlimited) Wait(ctx context.Context) error { return ctx.Err() }

// Capabilities implements what the contract suite asserts. A note may have a million
// characters, which as many bytes never exceed; a label's name 255. GitLab's lists
// have ETags at times, but a 304 is counted as any other request.
func (c *Client) Capabilities() forge.Capabilities {
	return forge.Capabilities{Lags: true, Locks: true, Threads: true, Links: true,
		Limits: forge.Limits{Comment: 1_000_000, Label: 255}}
}

// place is where a thread is, in the words of the library.
type place struct {
	project any // the path or the id
	number  int64
	merge   bool
}

// place splits a ref of ours.
func (c *Client) place(op string, ref slot.Ref) (place, error) {
	kind := ref.Kind()
	if kind != slot.RefIssue && kind != slot.RefMerge || ref.Host() != c.host {
		return place{}, unsupported(op, "it is no issue or merge request of "+c.host)
	}
	path, err := c.path(op, ref.Repo())
	return place{path, int64(ref.Number()), kind == slot.RefMerge}, err
}

// path is a canonical repository without its host.
func (c *Client) path(op, repo string) (string, error) {
	path, ok := strings.CutPrefix(repo, c.host+"/")
	if !ok || !strings.Contains(path, "/") {
		return "", unsupported(op, "it is no project of "+c.host)
	}
	return path, nil
}

func unsupported(op, detail string) error {
	return &forge.Error{Kind: forge.ErrUnsupported, Op: op, Detail: detail}
}

// failed makes an error of the library's one of ours.
func failed(op string, err error, resp *gl.Response) error {
	if resp == nil {
		return transport.Error(op, err, nil)
	}
	return transport.Error(op, err, resp.Response)
}

// date is the forge's clock when it answered.
func date(op string, resp *gl.Response) (time.Time, error) {
	at, ok := transport.Date(resp.Header)
	if !ok {
		return time.Time{}, &forge.Error{Op: op, Status: resp.StatusCode, Detail: "the answer does not say the forge's time"}
	}
	return at, nil
}

// write makes one change of a thread. GitLab answers 405 for a project's former path,
// and has done nothing then: the project is looked for, and asked by its id.
func (c *Client) write(ctx context.Context, op string, ref slot.Ref, do func(p place, with gl.RequestOptionFunc) (*gl.Response, error)) error {
	p, err := c.place(op, ref)
	if err != nil {
		return err
	}
	with := gl.WithContext(ctx)
	resp, err := do(p, with)
	if err != nil && resp != nil && resp.StatusCode == http.StatusMethodNotAllowed {
		project, found, lost := c.api.Projects.GetProject(p.project, nil, with)
		if lost != nil {
			return failed(op, lost, found)
		}
		p.project = project.ID
		resp, err = do(p, with)
	}
	return failed(op, err, resp)
}

// Me implements forge.Reader.
func (c *Client) Me(ctx context.Context) (string, error) {
	u, resp, err := c.api.Users.CurrentUser(gl.WithContext(ctx))
	if err != nil {
		return "", failed("read whose token it is", err, resp)
	}
	return u.Username, nil
}
