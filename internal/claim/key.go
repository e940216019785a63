package claim

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewKey makes the key of a new claim. The claim's id carries the slot's slug,
// so that every backend finds the slot of an id without an index; the token is
// 160 random bits.
func NewKey(ref slot.Ref) Key {
	return Key{Claim: ref.Slug() + "." + random(10), Token: random(20)}
}

// NewID is a random name for a run or a ticket, 80 bits in [a-z2-7].
func NewID() string { return random(10) }

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the process instead
	return lower.EncodeToString(b)
}

// SlugOf gives the slug that a claim id carries, or "" if it is no claim id.
func SlugOf(claim string) string {
	slug, rest, ok := strings.Cut(claim, ".")
	if !ok || slug == "" || rest == "" || len(claim) > 128 {
		return ""
	}
	return slug
}

// HashToken is what a store keeps of a token.
func HashToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

// SameToken compares a token with a stored hash in constant time.
func SameToken(token string, hash []byte) bool {
	return subtle.ConstantTimeCompare(HashToken(token), hash) == 1
}
