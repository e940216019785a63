package transport

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/oneslot/oneslot/internal/forge"
)

// maxRedirects is how many times one request is followed: a repository that was
// renamed needs one.
const maxRedirects = 3

// ErrRedirected: a write was answered with a redirect, which is not followed. Nothing
// was done.
var ErrRedirected = errors.New("a write was redirected")

// allowed refuses whatever is not the configured scheme, host and port. Addresses in
// payloads and answers lead nowhere else (C60).
func (t *Transport) allowed(u *url.URL) error {
	if u.User != nil {
		return refused("the address has a user in it")
	}
	if u.Scheme != t.api.Scheme || origin(u) != origin(t.api) {
		return refused("it would have gone to " + line(u.Scheme+"://"+u.Host) + ", which is not the configured " + t.api.Scheme + "://" + t.api.Host)
	}
	return nil
}

// redirect is asked before a redirect is followed: to the same host, for reads only.
func (t *Transport) redirect(req *http.Request, via []*http.Request) error {
	if err := t.allowed(req.URL); err != nil {
		return err
	}
	// A write is not repeated elsewhere: its sender finds out the new name and says it.
	if m := via[0].Method; m != http.MethodGet && m != http.MethodHead {
		return &forge.Error{Op: "send a request to the forge", Err: ErrRedirected,
			Detail: "a write is redirected to " + line(req.URL.Path) + ": what it is about was renamed or moved"}
	}
	if len(via) > maxRedirects {
		return refused("too many redirects")
	}
	return nil
}

// refused is an error of ours: nothing was sent to where it should have gone.
func refused(detail string) error {
	return &forge.Error{Op: "send a request to the forge", Detail: detail}
}

// origin is a host with its port, also if that is the scheme's own.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
