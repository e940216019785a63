package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

type httpGate struct {
	url    string
	client *http.Client
}

// NewHTTP is the gate "http": it gets an address, in whose path and query there may
// be placeholders. 2xx is free; 409 (Conflict) and 423 (Locked) are busy; anything
// else means that it could not be found out. The first line of the body is the
// evidence. Errors match slot.ErrUsage.
func NewHTTP(address string) (Gate, error) {
	if err := slot.CheckExpand(address); err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	fixed, _, _ := strings.Cut(address, "{")
	u, err := url.Parse(fixed)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || fixed != address && u.Path == "" {
		return nil, fmt.Errorf("%w: url: not http:// or https:// with a host, and placeholders after it", slot.ErrUsage)
	}
	return &httpGate{address, &http.Client{CheckRedirect: sameHost}}, nil
}

// sameHost follows a redirection only where the question was meant to go.
func sameHost(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return errors.New("it redirects to another host")
	}
	if len(via) >= 5 {
		return errors.New("it redirects on and on")
	}
	return nil
}

func (*httpGate) Type() string { return "http" }

func (g *httpGate) Ask(ctx context.Context, a Ask) Answer {
	address, err := slot.ExpandFunc(g.url, a.Ref, a.Sha, url.QueryEscape)
	if err != nil {
		return cannotName("http", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return unknown("http", "the address cannot be asked")
	}
	req.Header.Set("User-Agent", "oneslot")
	resp, err := g.client.Do(req)
	if err != nil {
		return unknown("http", bare(err).Error())
	}
	defer resp.Body.Close()
	said := &head{}
	_, err = io.Copy(said, io.LimitReader(resp.Body, bodyMax))
	detail := resp.Status + after(": ", said.line())
	switch code := resp.StatusCode; {
	case err != nil:
		return unknown("http", fmt.Sprintf("%s, then %v", detail, err))
	case code >= 200 && code < 300:
		return proceed("http", "free", detail)
	case code == http.StatusConflict, code == http.StatusLocked:
		return deferral("http", "busy", detail)
	}
	return unknown("http", detail)
}

// bodyMax bounds what is read of an answer, so that its connection can be used again.
const bodyMax = 64 << 10
