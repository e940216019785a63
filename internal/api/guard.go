package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/wire"
)

// guard lets in who may, and gives the request to its route.
func (s *server) guard(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{server: s, most: maxBody, w: w, r: r}
		if rt.big {
			c.most = bigBody
		}
		err := c.admit(rt)
		if err == nil {
			if rt.slow { // each write has a time of its own
				_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // not every writer of a test has one
			} else {
				ctx, cancel := context.WithTimeout(r.Context(), stepTime)
				defer cancel()
				c.r = r.WithContext(ctx)
			}
			err = rt.serve(c)
		}
		if err != nil {
			c.fail(err)
		}
	}
}

// admit finds out who asks and whether that may.
func (c *call) admit(rt route) error {
	if err := sameOrigin(c.r); err != nil {
		return err
	}
	var err error
	if c.who, err = c.identify(c.r); err != nil {
		return err
	}
	switch {
	case c.who.role >= rt.need:
		return nil
	case c.who.role == None:
		c.w.Header().Set("WWW-Authenticate", "Bearer")
		return &refused{http.StatusUnauthorized, wire.TypeUnauthorized, "this needs a token"}
	case rt.need == Admin && !c.who.near:
		return &refused{http.StatusForbidden, wire.TypeNotAllowed,
			"this needs the admin's token, or the unix socket as the user that the server runs as"}
	}
	return &refused{http.StatusForbidden, wire.TypeNotAllowed,
		"this needs the role " + rt.need.String() + ", and the caller's is " + c.who.role.String()}
}

// sameOrigin refuses what a browser was told to send by somebody else's page.
func sameOrigin(r *http.Request) error {
	foreign := &refused{http.StatusForbidden, wire.TypeNotAllowed, "the request comes from a foreign page"}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return foreign
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
		return foreign
	}
	return nil
}

// loopback reports whether both ends of the connection are this host's, nobody
// passed the request on, and it is addressed by loopback's own names.
func loopback(r *http.Request) bool {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !remote.Addr().Unmap().IsLoopback() {
		return false
	}
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	return loopbackName(r.Host)
}

func loopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
