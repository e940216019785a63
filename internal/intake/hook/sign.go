package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strings"
)

var (
	errUnsigned = errors.New("the signature is missing or wrong")
	errMissing  = fmt.Errorf("%w: it is missing", errUnsigned)
)

// signingPrefix marks GitLab's signing tokens, and tells them from its plain ones.
const signingPrefix = "whsec_"

// seal checks one request. Its body is written to it as it comes.
type seal struct {
	mac  hash.Hash // nil if there is no signature over the body
	want [][]byte
}

// newSeal reads the signature headers, before anything of the body is there. The
// error is errUnsigned, or errMissing, which is one: no body can make the request good.
//
// Each forge has its own headers. At least one must be there, each once, and every
// one that is there must be right. They are compared as the forges document them:
// lower-case hex. SHA-1 signatures are not looked at.
func newSeal(h Hook, header http.Header) (*seal, error) {
	if len(h.Secret) == 0 {
		if h.Unsigned {
			return &seal{}, nil
		}
		return nil, errUnsigned
	}
	switch h.Forge {
	case GitHub:
		return hexSeal(h.Secret, header, "X-Hub-Signature-256")
	case Forgejo:
		return hexSeal(h.Secret, header, "X-Forgejo-Signature", "X-Gitea-Signature", "X-Hub-Signature-256")
	case Gitea:
		return hexSeal(h.Secret, header, "X-Gitea-Signature", "X-Hub-Signature-256")
	case Gogs:
		return hexSeal(h.Secret, header, "X-Gogs-Signature")
	case GitLab:
		if strings.HasPrefix(string(h.Secret), signingPrefix) {
			return standardSeal(h.Secret, header)
		}
		token := header.Values("X-Gitlab-Token")
		if len(token) == 0 {
			return nil, errMissing
		}
		if len(token) == 1 && subtle.ConstantTimeCompare([]byte(token[0]), h.Secret) == 1 {
			return &seal{}, nil
		}
	}
	return nil, errUnsigned
}

func hexSeal(secret []byte, header http.Header, names ...string) (*seal, error) {
	s := &seal{mac: hmac.New(sha256.New, secret)}
	for _, name := range names {
		values := header.Values(name)
		if len(values) == 0 {
			continue
		}
		text := values[0]
		if name == "X-Hub-Signature-256" {
			var ok bool
			if text, ok = strings.CutPrefix(text, "sha256="); !ok {
				return nil, errUnsigned
			}
		}
		want, err := hex.DecodeString(text)
		if err != nil || len(values) > 1 || len(want) != sha256.Size || text != strings.ToLower(text) {
			return nil, errUnsigned
		}
		s.want = append(s.want, want)
	}
	if len(s.want) == 0 {
		return nil, errMissing
	}
	return s, nil
}

// standardSeal is GitLab's signing token, by the Standard Webhooks: an HMAC over
// id, time and body. The time is not judged: a repeated id is a duplicate, however
// old, and a wrong clock on either side loses nothing.
func standardSeal(secret []byte, header http.Header) (*seal, error) {
	id, at, sign := header.Values("Webhook-Id"), header.Values("Webhook-Timestamp"), header.Values("Webhook-Signature")
	if len(sign) == 0 {
		return nil, errMissing
	}
	if len(id) != 1 || len(at) != 1 || len(sign) != 1 {
		return nil, errUnsigned
	}
	key, err := base64.StdEncoding.DecodeString(string(secret[len(signingPrefix):]))
	if err != nil || len(key) == 0 {
		return nil, errUnsigned
	}
	text, v1 := strings.CutPrefix(sign[0], "v1,")
	want, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || !v1 || len(want) != sha256.Size {
		return nil, errUnsigned
	}
	s := &seal{mac: hmac.New(sha256.New, key), want: [][]byte{want}}
	_, _ = s.mac.Write([]byte(id[0] + "." + at[0] + ".")) // a hash never fails
	return s, nil
}

// Write takes more of the body. It never fails.
func (s *seal) Write(p []byte) (int, error) {
	if s.mac == nil {
		return len(p), nil
	}
	return s.mac.Write(p)
}

// right reports whether all signatures fit what was written.
func (s *seal) right() bool {
	if s.mac == nil {
		return true
	}
	sum, ok := s.mac.Sum(nil), 1
	for _, want := range s.want {
		ok &= subtle.ConstantTimeCompare(sum, want)
	}
	return ok == 1
}
