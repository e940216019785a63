package forgetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Serve serves the world on loopback until the test ends, and returns the address
// that a client of its kind is configured with.
func Serve(t testing.TB, w *World) (api string) {
	t.Helper()
	api, stop := Start(w)
	t.Cleanup(stop)
	return api
}

// NewGitHub serves a new world as GitHub does.
func NewGitHub(t testing.TB, now func() time.Time) (*World, string) { return serveNew(t, GitHub, now) }

// NewGitea serves a new world as Gitea does.
func NewGitea(t testing.TB, now func() time.Time) (*World, string) { return serveNew(t, Gitea, now) }

// NewGitLab serves a new world as GitLab does.
func NewGitLab(t testing.TB, now func() time.Time) (*World, string) { return serveNew(t, GitLab, now) }

func serveNew(t testing.TB, kind Kind, now func() time.Time) (*World, string) {
	w := New(kind, now)
	return w, Serve(t, w)
}

// Start is Serve without a test.
func Start(w *World) (api string, stop func()) {
	f := &face{World: w, mux: http.NewServeMux()}
	var base string
	switch w.kind {
	case GitHub:
		base = "/api/v3"
		f.github()
	case GitLab:
		base = "/api/v4"
		f.gitlab()
	default:
		base = "/api/v1"
		f.gitea()
	}
	server := httptest.NewServer(f)
	f.own = server.URL
	return server.URL + base, func() {
		server.CloseClientConnections()
		server.Close()
	}
}

// Host is the host, with its port, of an address.
func Host(api string) string {
	u, err := url.Parse(api)
	if err != nil {
		return ""
	}
	return u.Host
}

// face serves a world. Its methods github, gitea and gitlab register routes with
// handle; handlers answer with write, fail and list.
type face struct {
	*World
	mux  *http.ServeMux
	own  string // our own address
	etag bool   // answers carry ETags, and conditional requests are understood
}

// reply is an answer that a handler gives. The zero one is 200 without a body.
type reply struct {
	status int
	header http.Header
	body   any // JSON; a string is sent as it is
}

// handle registers a route, "GET /api/v1/version". The user has no Login if there
// was no token.
func (f *face) handle(pattern string, do func(r *http.Request, u User) reply) {
	f.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		u, _ := f.who(r)
		f.write(w, r, do(r, u))
	})
}

// ServeHTTP notes each request, and does what the faults want.
func (f *face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u, known := f.who(r)
	seen := Request{
		At: f.now(), Method: r.Method, URI: r.URL.RequestURI(), Login: u.Login,
		Match: r.Header.Get("If-None-Match"), Body: string(body),
	}
	fault, delay := f.fault(r, u.Login)
	answer := httptest.NewRecorder()
	switch _, pattern := f.mux.Handler(r); {
	case (fault.Cut || fault.Status != 0) && !fault.Done:
		seen.Route = pattern
	case !known:
		seen.Route = pattern
		f.write(answer, r, f.failed(http.StatusUnauthorized, ""))
	default:
		f.mux.ServeHTTP(answer, r)
		seen.Route = r.Pattern
	}
	if fault.Status != 0 {
		answer = httptest.NewRecorder()
		reply := f.failed(fault.Status, "")
		if fault.Body != "" {
			reply.body = fault.Body
		}
		f.write(answer, r, reply)
	}
	seen.Status = answer.Code
	if fault.Cut {
		seen.Status = 0
	}
	f.note(seen)
	pause(r, delay)
	if fault.Cut {
		panic(http.ErrAbortHandler) // how a handler closes its connection
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	for name, values := range fault.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.Header().Set("Date", f.now().UTC().Format(http.TimeFormat))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the client may be gone
}

func pause(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// who finds whose token a request carries. Without one it is nobody, which is
// known; a wrong or ended token is not.
func (f *face) who(r *http.Request) (u User, known bool) {
	token := r.Header.Get("Private-Token")
	if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		token = rest
		if strings.EqualFold(scheme, "basic") {
			_, token, _ = r.BasicAuth()
		}
	}
	if token == "" {
		return User{}, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.users {
		if u.Token == token {
			return u, u.Ends.IsZero() || f.now().Before(u.Ends)
		}
	}
	return User{}, false
}

// failed is the forge's usual error answer.
func (f *face) failed(status int, message string) reply {
	if message == "" {
		message = http.StatusText(status)
	}
	return reply{status: status, body: map[string]any{"message": message, "url": f.at("/api/swagger")}}
}

// write sends an answer; with etag, one that the client has already is 304.
func (f *face) write(w http.ResponseWriter, r *http.Request, a reply) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	for name, values := range a.header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	var body []byte
	switch b := a.body.(type) {
	case nil:
	case string:
		body = []byte(b)
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			panic("forgetest: " + err.Error())
		}
	}
	if len(body) > 0 && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
	}
	if f.etag && r.Method == http.MethodGet && a.status == http.StatusOK {
		sum := sha256.Sum256(append([]byte(w.Header().Get("Link")), body...))
		tag := `W/"` + hex.EncodeToString(sum[:16]) + `"`
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body)
}

// at is an address of a payload: our own, or where Poison leads.
func (f *face) at(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.poison != "" {
		return f.poison + path
	}
	return f.own + path
}

// decode reads a JSON body.
func decode(r *http.Request, into any) error {
	return json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(into)
}

// number reads a number of the path or the query; 0 if it is none.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
