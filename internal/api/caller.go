package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"github.com/oneslot/oneslot/internal/wire"
)

// Role is what a caller may do; each may what those before it may.
type Role int

// The roles.
const (
	None     Role = iota // no caller is asked who it is
	Read                 // look
	Dispatch             // claim, and wish
	Admin                // stop, take over, hold: what ends or keeps out somebody else's work
)

var roles = [...]string{"none", "read", "dispatch", "admin"}

// String is the role's name, as in the configuration.
func (r Role) String() string { return roles[r] }

// ParseRole reads a role's name; ok is false if there is none of that name.
func ParseRole(s string) (r Role, ok bool) {
	for i, name := range roles {
		if i > 0 && name == s {
			return Role(i), true
		}
	}
	return None, false
}

// Token is what a caller over TCP shows.
type Token struct {
	name string
	role Role
	hash [sha256.Size]byte
	long bool
}

// longToken is the length from which on a token cannot be guessed, in bytes.
const longToken = 20

// NewToken makes a token; name is for the log. Of the secret only a hash is kept.
func NewToken(name string, role Role, secret []byte) Token {
	return Token{name, role, sha256.Sum256(secret), len(secret) >= longToken}
}

// caller is who asks.
type caller struct {
	role Role
	// near: its processes are this host's, and it is not lying about them for
	// somebody else: it is our own user, over a unix socket.
	near bool
	self bool // its uid is the server's own
	name string
}

// identify finds out who asks, by socket or token.
func (s *server) identify(r *http.Request) (caller, error) {
	if p, ok := peerOf(r.Context()); ok {
		c := caller{role: Dispatch, name: p.String()}
		if p.known && (p.uid == s.UID || p.uid == 0) {
			c.role, c.near, c.self = Admin, true, p.uid == s.UID
		}
		return c, nil
	}
	shown := r.Header.Get("Authorization")
	open := s.Open && loopback(r)
	if shown == "" {
		if !open {
			return caller{}, nil
		}
		return caller{role: Dispatch, name: "loopback"}, nil
	}
	from := sourceOf(r)
	secret, ok := strings.CutPrefix(shown, "Bearer ")
	t := s.tokenOf(secret)
	// A long one is not found by trying: wrong ones of others keep it out nowhere.
	if (t == nil || !t.long) && !s.fails.may(from) {
		return caller{}, &refused{http.StatusTooManyRequests, wire.TypeTooMany, "too many wrong tokens came from there; try again in a minute"}
	}
	if !ok || t == nil {
		s.fails.failed(from)
		s.Log.Warn("a wrong token was refused", "from", r.RemoteAddr)
		return caller{}, &refused{http.StatusUnauthorized, wire.TypeUnauthorized, "the token is not known here"}
	}
	c := caller{role: t.role, name: t.name}
	if open {
		c.role = max(c.role, Dispatch)
	}
	return c, nil
}

// tokenOf compares a secret with all tokens, each in constant time.
func (s *server) tokenOf(secret string) *Token {
	hash := sha256.Sum256([]byte(secret))
	var found *Token
	for _, t := range s.Tokens() {
		if subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 {
			found = &t
		}
	}
	return found
}

// sourceOf is where a request comes from, as failures are counted: an address, or
// the network of one of IPv6, which one machine has all of.
func sourceOf(r *http.Request) netip.Prefix {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}
