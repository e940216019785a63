package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
)

const (
	// defaultTimeout bounds one request and its body; what a redirect leads to is
	// another one.
	defaultTimeout = 30 * time.Second
	// idlePerHost is how many idle connections are kept: all go to one host.
	idlePerHost = 16
)

// TokenSource gives the token of a forge. It is called by many goroutines, once per
// request. Its errors must not repeat a token.
type TokenSource interface {
	// Token gives the token for one request. Path and Owner tell from ctx what it is
	// about.
	Token(ctx context.Context) (string, error)
	// Renew is told of a token that the forge rejected, and gives the next one; the
	// same or "" if there is no other.
	Renew(ctx context.Context, rejected string) (string, error)
}

// Options of a Transport.
type Options struct {
	// API is the base address from the configuration: https, or http on loopback,
	// without user, query and fragment.
	API string
	// Token is the source of tokens; nil: the client is nobody.
	Token TokenSource
	// Header sets the token; nil: as "Authorization: Bearer".
	Header func(h http.Header, token string)
	Clock  clock.Clock
	// Count is told of each request that was sent: the answer's status, 0 if there was
	// none, and whether the answer was a limit. It may be nil.
	Count func(status int, limited bool)
	// Timeout bounds a request; 0: defaultTimeout.
	Timeout time.Duration
}

// Transport sends requests to one forge. Any number of goroutines may use it.
type Transport struct {
	api     *url.URL
	options Options
	base    http.RoundTripper
	client  *http.Client
	limit   limiter
}

// New makes the transport of one forge. An address that may not be used is an error.
func New(o Options) (*Transport, error) {
	api, err := parseAPI(o.API)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		return nil, errors.New("a transport needs a clock")
	}
	if o.Header == nil {
		o.Header = func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	t := &Transport{api: api, options: o, limit: limiter{clock: o.Clock}, base: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   idlePerHost,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}}
	// Its own Timeout would hold a goroutine for each answer whose body is not closed;
	// go-github (v88) leaves those of failures and of each 304.
	t.client = &http.Client{Transport: t, CheckRedirect: t.redirect}
	return t, nil
}

// Client is what a forge's library is given.
func (t *Transport) Client() *http.Client { return t.client }

// API is the base address, without a slash at its end.
func (t *Transport) API() string { return t.api.String() }

// RoundTrip implements http.RoundTripper. Its errors are *forge.LimitError (nothing
// was sent, or the answer was a limit), *forge.Error, or those of the connection.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := withPath(req.Context(), req.URL.Path)
	token, err := t.ready(ctx, req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := t.send(req, token)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || token == "" {
		return resp, err
	}
	// A 401 did nothing, so that this is no second write.
	if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
		return resp, nil
	}
	next, err := t.options.Token.Renew(ctx, token)
	if err != nil {
		return nil, tokenError(err)
	}
	if next == "" || next == token {
		return resp, nil
	}
	if err := printable(next); err != nil {
		return nil, tokenError(err)
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.send(again, next)
}

// ready refuses a request before a byte of it leaves, or gives its token.
func (t *Transport) ready(ctx context.Context, req *http.Request) (string, error) {
	if err := t.allowed(req.URL); err != nil {
		return "", err
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return "", refused("the request names another host")
	}
	if err := t.limit.now(); err != nil {
		return "", err
	}
	if t.options.Token == nil {
		return "", nil
	}
	token, err := t.options.Token.Token(ctx)
	if err == nil {
		err = printable(token)
	}
	if err != nil {
		return "", tokenError(err)
	}
	return token, nil
}

func (t *Transport) send(req *http.Request, token string) (*http.Response, error) {
	ctx, done := context.WithTimeout(req.Context(), t.options.Timeout)
	out := req.Clone(ctx)
	out.Header.Del("Authorization") // only what is set here goes out
	if token != "" {
		t.options.Header(out.Header, token)
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		done()
		t.count(0, false)
		return nil, err
	}
	if err := bound(resp, token, done); err != nil {
		t.count(resp.StatusCode, false)
		return nil, err
	}
	resp.Request = req // the one without the token
	limit := t.limit.judge(resp)
	t.count(resp.StatusCode, limit != nil)
	if limit != nil {
		return nil, limit
	}
	return resp, nil
}

func (t *Transport) count(status int, limited bool) {
	if t.options.Count != nil {
		t.options.Count(status, limited)
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// printable refuses a token that is none: nothing of it is repeated.
func printable(token string) error {
	switch {
	case token == "":
		return errors.New("the token is empty")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the token has a space, a line end or a character that is not ASCII")
	}
	return nil
}

// tokenError says that there is no token to go with; a limit stays a limit.
func tokenError(err error) error {
	if errors.Is(err, forge.ErrLimited) {
		return err
	}
	if ours := new(forge.Error); errors.As(err, &ours) {
		return err
	}
	return &forge.Error{Kind: forge.ErrUnauthorized, Op: "get the forge's token", Detail: line(err.Error()), Err: err}
}

func parseAPI(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("the forge's API address cannot be read") // it may hold a password
	case u.User != nil:
		return nil, errors.New("the forge's API address has a user in it: tokens have their own setting")
	case u.Host == "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the forge's API address %s is not of the form https://host/path", u)
	case u.Scheme == "http" && !loopback(u.Hostname()), u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the forge's API address %s must be https (http only on loopback)", u)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
