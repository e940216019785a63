package token_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/forge/transport/token"
)

// hub is as much of GitHub as an app needs: it makes tokens of 60 minutes and accepts
// them until they end.
type hub struct {
	t     *testing.T
	key   *rsa.PrivateKey
	clock *clock.Manual // the forge's; it runs an hour ahead of ours

	mu     sync.Mutex
	owners map[string]int64
	ends   map[string]time.Time // of each token
	made   int
	broken bool // it makes none
}

func (h *hub) now() time.Time { return h.clock.Wall().Add(time.Hour) }

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Date", h.now().UTC().Format(http.TimeFormat))
	bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	var id int64
	switch _, err := fmt.Sscanf(r.URL.Path, "/app/installations/%d/access_tokens", &id); {
	case strings.HasPrefix(r.URL.Path, "/app/") && !h.signed(bearer):
		w.WriteHeader(http.StatusUnauthorized)
	case h.broken && err == nil:
		w.WriteHeader(http.StatusBadGateway)
	case err == nil && r.Method == http.MethodPost:
		h.made++
		name := fmt.Sprintf("%s-%d-%d", canary, id, h.made)
		h.ends[name] = h.now().Add(time.Hour)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":%q,"expires_at":%q}`, name, h.ends[name].UTC().Format(time.RFC3339))
	case r.URL.Path == "/app/installations":
		var list []string
		for owner, id := range h.owners {
			list = append(list, fmt.Sprintf(`{"id":%d,"account":{"login":%q},"suspended_at":null}`, id, owner))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(list, ","))
	case !h.now().Before(h.ends[bearer]):
		w.WriteHeader(http.StatusUnauthorized)
	default:
		fmt.Fprint(w, strings.TrimPrefix(bearer, canary))
	}
}

// signed checks a JWT as GitHub does, by our clock: what is wrong with it by theirs is
// for the test of the claims.
func (h *hub) signed(jwt string) bool {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return false
	}
	var claims struct {
		Iat, Exp int64
		Iss      string
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if errors.Join(err, err2, json.Unmarshal(text, &claims)) != nil {
		return false
	}
	now := h.clock.Wall().Unix()
	if claims.Iss != "42" || claims.Iat != now-60 || claims.Exp <= now || claims.Exp-now > 600 {
		h.t.Errorf("claims %s", text)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return rsa.VerifyPKCS1v15(&h.key.PublicKey, crypto.SHA256, sum[:], signature) == nil
}

type appRig struct {
	*hub
	api    string
	client *transport.Transport
	pem    []byte
}

func newApp(t *testing.T, owners map[string]int64) *appRig {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	r := &appRig{hub: &hub{t: t, key: key, clock: clock.NewManual(noon), owners: owners, ends: map[string]time.Time{}}}
	r.pem = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	server := httptest.NewServer(r.hub)
	t.Cleanup(server.Close)
	r.api = server.URL
	src, err := token.NewApp(token.AppOptions{ID: "42", API: r.api, Clock: r.clock, Key: func() ([]byte, error) { return r.pem, nil }})
	if err != nil {
		t.Fatal(err)
	}
	r.client, err = transport.New(transport.Options{API: r.api, Token: src, Clock: r.clock})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// get reads a path, and tells which token the forge saw: "installation-number".
func (r *appRig) get(t *testing.T, path, owner string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(transport.ForOwner(t.Context(), owner), "GET", r.api+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.client.Client().Do(req)
	if err != nil {
		return "", transport.Error("ask", err, nil)
	}
	defer func() { _ = resp.Body.Close() }()
	var id, n int64
	if resp.StatusCode != 200 {
		return "", transport.Error("ask", errors.New(resp.Status), resp)
	}
	_, err = fmt.Fscanf(resp.Body, "-%d-%d", &id, &n)
	return fmt.Sprintf("%d-%d", id, n), err
}

func (r *appRig) want(t *testing.T, path, owner, token string) {
	t.Helper()
	if got, err := r.get(t, path, owner); err != nil || got != token {
		t.Fatalf("%s %s: %q, %v, wanted %q", path, owner, got, err, token)
	}
}

// C46: a token of 60 minutes and a run of 75: the next one is made before the first ends,
// counted by the forge's clock, not by ours.
func TestC46_AppTokenOf60Minutes(t *testing.T) {
	r := newApp(t, map[string]int64{"Octo": 7})
	for minute := range 76 {
		want := "7-1"
		if minute >= 55 {
			want = "7-2"
		}
		r.want(t, "/repos/octo/hello/issues/1", "", want)
		r.clock.Advance(time.Minute)
	}
}

// C46: one that was withdrawn early is found out by the 401.
func TestC46_AppTokenRejected(t *testing.T) {
	r := newApp(t, map[string]int64{"octo": 7})
	r.want(t, "/repos/octo/hello", "", "7-1")
	r.mu.Lock()
	clear(r.ends)
	r.mu.Unlock()
	r.want(t, "/repos/octo/hello", "", "7-2")
	r.want(t, "/repos/octo/hello", "", "7-2")
}

// While no new token can be made, the old one is good until it ends; then it is an error.
func TestC46_NoNewAppToken(t *testing.T) {
	r := newApp(t, map[string]int64{"octo": 7})
	r.want(t, "/repos/octo/hello", "", "7-1")
	r.mu.Lock()
	r.broken = true
	r.mu.Unlock()
	r.clock.Advance(59 * time.Minute)
	r.want(t, "/repos/octo/hello", "", "7-1")
	r.clock.Advance(time.Minute)
	_, err := r.get(t, "/repos/octo/hello", "")
	if e := new(forge.Error); !errors.As(err, &e) || e.Status != http.StatusBadGateway || strings.Contains(err.Error(), canary) {
		t.Fatal(err)
	}
}

func TestAppInstallations(t *testing.T) {
	r := newApp(t, map[string]int64{"Octo": 7, "other": 8})
	r.want(t, "/repos/octo/hello", "", "7-1")
	r.want(t, "/repos/Other/x", "", "8-2")
	r.want(t, "/graphql", "OCTO", "7-1")
	for path, says := range map[string]string{"/graphql": "names no owner", "/repos/nobody/x": "not installed at nobody"} {
		if _, err := r.get(t, path, ""); !errors.Is(err, forge.ErrForbidden) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
	r.mu.Lock()
	r.owners["nobody"] = 9 // installed a moment later
	r.mu.Unlock()
	r.clock.Advance(time.Minute)
	r.want(t, "/repos/nobody/x", "", "9-3")
}

func TestAppTheOnlyInstallation(t *testing.T) {
	newApp(t, map[string]int64{"octo": 7}).want(t, "/graphql", "", "7-1")
}

func TestAppKeys(t *testing.T) {
	r := newApp(t, map[string]int64{"octo": 7})
	good := r.pem
	for _, bad := range []string{"", canary, "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"} {
		r.pem = []byte(bad)
		if _, err := r.get(t, "/repos/octo/x", ""); !errors.Is(err, forge.ErrUnauthorized) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	block, _ := pem.Decode(good)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	r.pem = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	r.want(t, "/repos/octo/x", "", "7-1")
	if _, err := token.NewApp(token.AppOptions{API: r.api, Clock: r.clock}); err == nil {
		t.Error("an app without an id")
	}
}

// Many callers at the end of a token make one new token.
func TestAppTokenMadeOnce(t *testing.T) {
	r := newApp(t, map[string]int64{"octo": 7})
	r.want(t, "/repos/octo/x", "", "7-1")
	r.clock.Advance(2 * time.Hour)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := r.get(t, "/repos/octo/x", ""); err != nil || got != "7-2" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
}
