package hook

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// Whatever a forge sends, a ref comes about by the grammar alone and on the hook's
// host, facts are single bounded lines, and nothing panics (P12).
func fuzzParse(f *testing.F, forge string) {
	for _, r := range rows(f) {
		if r.forge == forge || forge == Forgejo && r.forge == Gitea {
			f.Add(r.event, read(f, r.file))
		}
	}
	f.Add("issues", []byte(`{"issue":{"number":1},"action":"opened","repository":{"full_name":"a/b@x"}}`))
	f.Add("issues", []byte(`{"issue":{"number":"1"},"action":[],"repository":{"full_name":"\u212a/b:c"}}`))
	h := testHook(forge)
	h.Own = Own{Logins: []string{"bot"}, Apps: []string{"9"}}
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		p, err := Parse(h, http.Header{eventHeader(forge): {event}}, body)
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatal("no JSON")
		}
		if (p.Ignored == "") == (len(p.Events) == 0) {
			t.Fatalf("%d events, ignored %q", len(p.Events), p.Ignored)
		}
		checkRef(t, h, p.About.Ref)
		oneLine(t, p.Ignored, p.Delivery.Event, p.Delivery.Action, p.About.State)
		for _, e := range p.Events {
			checkRef(t, h, e.Ref)
			if !strings.HasPrefix(e.Repo, h.Host+"/") || e.Kind == "" || e.Path != slot.PathWebhook {
				t.Fatalf("event %+v", e)
			}
			if e.Ref.IsZero() && e.Sha == "" {
				t.Fatalf("about nothing: %+v", e)
			}
			facts := e.Facts
			oneLine(t, facts.Labels...)
			oneLine(t, e.Sha, e.Fingerprint, facts.Label, facts.Branch, facts.Base, facts.Author, facts.Actor, facts.App,
				facts.Association, facts.Check, facts.Result, facts.Comment, facts.Command, facts.State)
		}
	})
}

func FuzzGitHub(f *testing.F)  { fuzzParse(f, GitHub) }
func FuzzGitea(f *testing.F)   { fuzzParse(f, Gitea) }
func FuzzForgejo(f *testing.F) { fuzzParse(f, Forgejo) }
func FuzzGogs(f *testing.F)    { fuzzParse(f, Gogs) }
func FuzzGitLab(f *testing.F)  { fuzzParse(f, GitLab) }

func checkRef(t *testing.T, h Hook, ref slot.Ref) {
	t.Helper()
	if ref.IsZero() {
		return
	}
	again, err := slot.ParseCanonical(ref.String())
	if err != nil || again != ref {
		t.Fatalf("%q does not read back: %v", ref, err)
	}
	want := slot.RefIssue
	if ref.Kind() == slot.RefMerge && h.Forge == GitLab {
		want = slot.RefMerge
	}
	if ref.Kind() != want || ref.Host() != h.Host {
		t.Fatalf("%q is a %s at %s", ref, ref.Kind(), ref.Host())
	}
}

func oneLine(t *testing.T, all ...string) {
	t.Helper()
	for _, s := range all {
		if len(s) > mark.MaxFact || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.ContainsAny(s, "\u2028\u2029\u202e") {
			t.Fatalf("%q is not one bounded line", s)
		}
	}
}

// C39: odd text is kept in the payload, and is one line in the facts.
func TestC39_OddText(t *testing.T) {
	for text, want := range map[string]string{
		`a\u0000b`:                  "a\ufffdb",
		`a\\u0000b`:                 `a\u0000b`,
		`\ud800`:                    "\ufffd",
		`a\u202eb`:                  "a\ufffdb",
		`a\nb`:                      "a\ufffdb",
		`😀`:                         "😀",
		strings.Repeat("é", 65<<10): strings.Repeat("é", mark.MaxFact/2),
	} {
		body := []byte(`{"action":"labeled","issue":{"number":1,"title":"` + text + `","updated_at":"` + text + `"},
			"label":{"name":"` + text + `"},"sender":{"login":"` + text + `"},` + where + `}`)
		b := newRig(t)
		answerOf(t, b.do(request("issues", body)))
		p := b.deliveries()[0]
		if got := p.Events[0].Facts; got.Label != want || got.Actor != want {
			t.Errorf("%.20s: label %q, actor %q", text, got.Label, got.Actor)
		}
		if string(p.Delivery.Body) != string(body) {
			t.Errorf("%.20s: the body was changed", text)
		}
	}
}

// P12: a name that would mean something else in a ref makes no ref.
func TestP12_Names(t *testing.T) {
	for _, name := range []string{"a/b#7", "a/b@x", "a/b!2", "a/b:c", "a", "a/b/../c", "a/b.git", "\u212aa/b", "a/b c", "a/b\n", "", "/", "key:x/y"} {
		text, _ := json.Marshal(name)
		for _, forge := range []string{GitHub, Gitea} {
			p := parse(t, testHook(forge), "issues", `{"action":"opened","issue":{"number":1},"repository":{"full_name":`+string(text)+`}}`)
			if !p.About.Ref.IsZero() || len(p.Events) > 0 {
				t.Errorf("%q became %s", name, p.About.Ref)
			}
		}
	}
}
