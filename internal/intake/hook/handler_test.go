package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// memory is a sink and a counter.
type memory struct {
	mu     sync.Mutex
	got    []Parsed
	seen   map[string]bool
	err    error
	counts map[string]int
	enter  func()
}

func (m *memory) Accept(_ context.Context, p Parsed) ([]Result, error) {
	if m.enter != nil {
		m.enter()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	p.Delivery.Body = bytes.Clone(p.Delivery.Body)
	m.got = append(m.got, p)
	var out []Result
	for range p.Events {
		r := Result{ID: "e" + p.Delivery.ID, Intake: slot.Queued}
		if p.Delivery.GUID != "" && m.seen[p.Delivery.GUID] {
			r = Result{Intake: slot.Duplicate, Of: "e1"}
		}
		out = append(out, r)
	}
	m.seen[p.Delivery.GUID] = true
	return out, nil
}

func (m *memory) Delivery(hook, result string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[hook+" "+result]++
}

func (m *memory) deliveries() []Parsed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.got
}

func (m *memory) count(what string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[what]
}

// rig is a handler with all it stands on.
type rig struct {
	http.Handler
	*memory
	dir string
}

func newRig(t testing.TB, hooks ...Hook) *rig {
	t.Helper()
	b := &rig{memory: &memory{seen: map[string]bool{}, counts: map[string]int{}}, dir: t.TempDir()}
	if len(hooks) == 0 {
		hooks = []Hook{testHook(GitHub)}
	}
	b.Handler = New(Options{
		Hook: func(name string) (Hook, bool) {
			for _, h := range hooks {
				if h.Name == name {
					return h, true
				}
			}
			return Hook{}, false
		},
		Sink: b.memory, Metrics: b.memory, SpoolDir: b.dir, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	return b
}

func (b *rig) files(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// request is a delivery to hook "test" of GitHub, signed.
func request(event string, body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/hooks/test", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hub-Signature-256", "sha256="+mac("test-secret", string(body)))
	r.Header.Set("X-Github-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	r.Header.Set("X-Github-Event", event)
	return r
}

func (b *rig) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

type answered struct {
	Delivery string
	Results  []struct{ Event, Ref, Kind, Result, Reason, Of string }
}

func answerOf(t testing.TB, w *httptest.ResponseRecorder) (a answered) {
	t.Helper()
	if w.Code != http.StatusAccepted {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return a
}

// C24, C25: a delivery is answered once it is kept, and its copy is a duplicate. One
// that was not signed leaves no trace, so it cannot pass for the real one.
func TestC24_Accept(t *testing.T) {
	b := newRig(t)
	body := read(t, "github/26-check_run.completed.json")
	forged := request("check_run", body)
	forged.Header.Set("X-Hub-Signature-256", "sha256="+mac("guess", string(body)))
	if w := b.do(forged); w.Code != http.StatusUnauthorized {
		t.Fatalf("forged: %d", w.Code)
	}
	if len(b.deliveries()) != 0 || b.count("test unauthorized") != 1 {
		t.Fatal("a forged delivery left a trace")
	}
	a := answerOf(t, b.do(request("check_run", body)))
	d := b.deliveries()[0].Delivery
	if d.ID != a.Delivery || d.Hook != "test" || d.GUID != "72d3162e-cc78-11e3-81ab-4c9367dc0958" ||
		d.Event != "check_run" || d.Action != "completed" || d.At.IsZero() || !bytes.Equal(d.Body, body) || d.Size != int64(len(body)) {
		t.Errorf("kept %+v", d)
	}
	r := a.Results[0]
	if r.Ref != "github.com/codertocat/hello-world#2" || r.Kind != "ci_failed" || r.Result != "queued" || r.Event == "" {
		t.Errorf("answer %+v", a)
	}
	e := b.deliveries()[0].Events[0]
	if e.Delivery != d.ID || e.At != d.At || e.Path != slot.PathWebhook {
		t.Errorf("event %+v", e)
	}
	if a := answerOf(t, b.do(request("check_run", body))); a.Results[0].Result != "duplicate" || a.Results[0].Of != "e1" {
		t.Errorf("copy: %+v", a)
	}
}

// P4: what the sink does not hold is not acknowledged.
func TestP4_SinkFails(t *testing.T) {
	b := newRig(t)
	b.err = errors.New("disk full")
	w := b.do(request("issues", read(t, "github/01-issues.opened.json")))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || b.count("test failed") != 1 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if strings.Contains(w.Body.String(), "disk") {
		t.Errorf("the answer tells of our disk: %s", w.Body)
	}
}

// C34: ping and unknown events.
func TestC34_Unknown(t *testing.T) {
	b := newRig(t)
	for event, body := range map[string][]byte{
		"ping":   read(t, "github/41-ping.json"),
		"star":   []byte(`{"action":"created","repository":{"full_name":"a/b"}}`),
		"issues": []byte(`{"action":"zzz","issue":{"number":1},"repository":{"full_name":"a/b"}}`),
		"label":  []byte(`{"label":"of another type","changes":7,"repository":[]}`),
	} {
		a := answerOf(t, b.do(request(event, body)))
		if len(a.Results) != 1 || a.Results[0].Result != "ignored" || a.Results[0].Reason == "" {
			t.Errorf("%s: %+v", event, a)
		}
	}
	for _, p := range b.deliveries() {
		if len(p.Events) > 0 {
			t.Errorf("%s has events", p.Delivery.Event)
		}
	}
	r := request("", []byte("{}"))
	r.Header.Del("X-Github-Event")
	r.Header.Set("X-Gitea-Event", "push") // of no forge of this hook
	if w := b.do(r); w.Code != http.StatusBadRequest {
		t.Errorf("no event: %d", w.Code)
	}
}

func TestMethodAndName(t *testing.T) {
	b := newRig(t)
	if w := b.do(httptest.NewRequest(http.MethodGet, "/hooks/test", nil)); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d", w.Code)
	}
	for _, path := range []string{"/hooks/", "/hooks/other", "/hooks/test/x", "/"} {
		if w := b.do(httptest.NewRequest(http.MethodPost, path, nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if b.count(" unknown") != 4 {
		t.Error("they are not counted without their names")
	}
}

// C36: the signature covers bytes; C38: empty and broken bodies.
func TestC36_Bytes(t *testing.T) {
	b := newRig(t)
	const open, end = `{"action":"opened","issue":{"number":1,"title":"`, `"},"repository":{"full_name":"a/b"}}`
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	for _, c := range []struct {
		body string
		want int
	}{
		{open + "😀\u2028é" + end, 202},
		{open + `\u00e9` + end, 202},
		{strings.Replace(open, `"number":1`, `"a":1.0,"number":1`, 1) + end, 202},
		{open + "\xff" + end, 202},
		{open + `\ud800 \u0000 \\u0000 \u202e` + end, 202},
		{open + strings.Repeat("x", 65<<10) + end, 202},
		{"\xef\xbb\xbf" + open + end, 400}, // signed, but not JSON
		{"", 400},
		{" \n", 400},
		{"1", 400},
		{"[]", 400},
		{"null", 400},
		{`"{}"`, 400},
		{"{", 400},
		{open + end + "x", 400},
		{open + end + open + end, 400},
		{open + "\n" + end, 400},
		{deep, 400},
		{open + `","b":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"c":"` + end, 400},
	} {
		if w := b.do(request("issues", []byte(c.body))); w.Code != c.want {
			t.Errorf("%.60q: %d, want %d: %s", c.body, w.Code, c.want, w.Body)
		}
	}
	r := request("issues", []byte(open+"é"+end))
	r.Header.Set("X-Hub-Signature-256", "sha256="+mac("test-secret", open+`\u00e9`+end))
	if w := b.do(r); w.Code != http.StatusUnauthorized {
		t.Errorf("signed over another text: %d", w.Code)
	}
}
