package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Options are what a Store needs to know beside its address.
type Options struct {
	// Dir is the folder of this host for runs and their registry.
	Dir string
	// Boot is this host's boot id.
	Boot string
	// Token is shown to servers over TCP; empty for none.
	Token string
	// Base overrides how TCP servers are reached; nil is the default, with the
	// system's roots and proxies.
	Base *http.Transport
}

// Store is a handle on a server's store. It implements claim.Store and
// claim.Journal and is safe for concurrent use.
type Store struct {
	opt     Options
	address string
	unix    bool
	root    string // http://host, without a slash at the end
	client  *http.Client

	ctx  context.Context // ends with Close
	end  context.CancelFunc
	mu   sync.Mutex
	line map[string]*wait // by ticket
}

// Open gives a handle on the server at address: "unix:" and an absolute path, an
// https:// address, or an http:// one of loopback. Nothing is asked yet. The error
// matches slot.ErrConfig and does not repeat the address.
func Open(address string, opt Options) (*Store, error) {
	s := &Store{opt: opt, address: address, line: map[string]*wait{}}
	t := opt.Base
	if t == nil {
		t = http.DefaultTransport.(*http.Transport).Clone()
	}
	t.MaxIdleConnsPerHost = 8
	t.ForceAttemptHTTP2 = true
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		s.unix, s.root = true, "http://oneslot"
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", path)
		}
	} else {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%w: the store's address is none of a server", slot.ErrConfig)
		}
		s.root = strings.TrimRight(u.String(), "/")
	}
	s.client = &http.Client{
		Transport: t,
		// A redirect may lead to somebody who is not to see the token; and what
		// redirects is not the API.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s, nil
}

const dialTime = 5 * time.Second

// Address is the server's address as people write it.
func (s *Store) Address() string { return s.address }

// Dir is the folder of this host for runs and their registry.
func (s *Store) Dir() string { return s.opt.Dir }

// Capabilities implements claim.Store. Over a unix socket the store's host is ours,
// and its boot, too.
func (s *Store) Capabilities() claim.Capabilities {
	return claim.Capabilities{
		Name: "remote", CrossProcess: true, CrossHost: true, Notifies: true, BootTime: s.unix, Limits: true, Covers: true,
		Tick: time.Millisecond,
	}
}

// Close ends what is under way.
func (s *Store) Close() error {
	s.end()
	s.mu.Lock()
	for id, w := range s.line {
		w.stop()
		delete(s.line, id)
	}
	s.mu.Unlock()
	s.client.CloseIdleConnections()
	return nil
}

// Verify reports whether the server can do its work.
func (s *Store) Verify(ctx context.Context) error {
	ctx, done := s.bounded(ctx)
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/readyz", nil)
	if err != nil {
		return s.unknown("verify", err)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return s.unknown("verify", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return s.unknown("verify", fmt.Errorf("the server is not ready: %s", res.Status))
	}
	return nil
}

var errClosed = errors.New("the store is closed")

// unknown says what could not be asked, without what an address may hold.
func (s *Store) unknown(op string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	e := &slot.UnknownError{Op: op, Store: s.address, Err: err}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errRefused) {
		e.Hint = "is `oneslot serve` running there?"
	}
	return e
}
