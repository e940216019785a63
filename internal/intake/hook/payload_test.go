package hook

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// row is a line of testdata/index.tsv.
type row struct {
	file, forge, event, action, ref, kind, sha, state, note string
}

func rows(t testing.TB) []row {
	t.Helper()
	text, err := os.ReadFile("testdata/index.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 9 {
			t.Fatalf("line %d has %d columns", i+1, len(f))
		}
		if i > 0 {
			out = append(out, row{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]})
		}
	}
	return out
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// header is what the row's delivery came with, or would have.
func (r row) header(t testing.TB) http.Header {
	t.Helper()
	name := strings.TrimSuffix(r.file, ".json")
	if !strings.HasPrefix(name, "gitea-recorded/") {
		return http.Header{eventHeader(r.forge): {r.event}}
	}
	text, _, _ := bytes.Cut(read(t, name+".headers"), []byte("#recorded-at"))
	in := bufio.NewReader(bytes.NewReader(append(text, "\r\n"...)))
	req, err := http.ReadRequest(in)
	if err != nil {
		t.Fatal(err)
	}
	return req.Header
}

func eventHeader(forge string) string {
	return map[string]string{
		GitHub: "X-Github-Event", Forgejo: "X-Forgejo-Event", Gitea: "X-Gitea-Event", Gogs: "X-Gogs-Event", GitLab: "X-Gitlab-Event",
	}[forge]
}

func testHook(forge string) Hook {
	host := map[string]string{GitHub: "github.com", GitLab: "gitlab.com"}[forge]
	if host == "" {
		host = "git.example.com"
	}
	return Hook{Name: "test", Forge: forge, Host: host, Secret: []byte("test-secret"), Commands: []string{"/oneslot"}}
}

func (r row) parse(t testing.TB, h Hook) Parsed {
	t.Helper()
	p, err := Parse(h, r.header(t), read(t, r.file))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every payload is about exactly what the index says.
func TestIndex(t *testing.T) {
	all := rows(t)
	if len(all) != 140 {
		t.Fatalf("%d payloads; want 45 + 15 + 19 + 6 + 55", len(all))
	}
	for _, r := range all {
		t.Run(r.file, func(t *testing.T) {
			h := testHook(r.forge)
			p := r.parse(t, h)
			if got := p.Delivery.Event; got != r.event {
				t.Errorf("event %q, want %q", got, r.event)
			}
			if got := dash(p.Delivery.Action); got != r.action && r.forge != GitLab {
				t.Errorf("action %q, want %q", got, r.action)
			}
			ref := r.ref
			if ref != "-" {
				ref = strings.ToLower(h.Host + "/" + ref)
			}
			got := [4]string{dash(p.About.Ref.String()), p.About.Kind, dash(p.About.Sha), dash(p.About.State)}
			if want := [4]string{ref, r.kind, r.sha, r.state}; got != want {
				t.Errorf("about %q, want %q", got, want)
			}
			for _, e := range p.Events {
				if e.Ref != p.About.Ref || e.Sha != p.About.Sha || e.Repo == "" {
					t.Errorf("event is about %s at %s in %q", e.Ref, e.Sha, e.Repo)
				}
			}
			if len(p.Events) == 0 == (p.Ignored == "") {
				t.Errorf("%d events, ignored %q", len(p.Events), p.Ignored)
			}
		})
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
