package slot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/oneslot/oneslot/internal/slot"
)

// genRef draws refs that lie close together: few hosts, short names out of few
// letters, so that a form that runs two parts into one is found out.
func genRef(t *rapid.T) slot.Ref {
	word := rapid.OneOf(rapid.StringMatching(`[ab][ab._-]{0,3}[ab]`), rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9._-]{0,200}x`))
	text := rapid.OneOf(rapid.StringMatching(`[ab/:#@!-]{1,4}`), rapid.String()).
		Filter(func(s string) bool { _, err := slot.ParseCanonical("key:" + s); return err == nil })
	kind := rapid.SampledFrom([]string{"#", "!", "@", ":", "key"}).Draw(t, "kind")
	if kind == "key" {
		return read(t, "key:"+text.Draw(t, "key"))
	}
	host := rapid.SampledFrom([]string{"", "github.com/", "gitlab.com/", "forge/", "a.b/", "a.b:8080/", "git.example.com/"}).Draw(t, "host")
	path := rapid.SliceOfN(word, 2, 4).Draw(t, "path")
	if host == "" {
		path[0] = strings.ReplaceAll(path[0], ".", "-") // would be a host
	}
	repo := host + strings.Join(path, "/")
	switch kind {
	case "#", "!":
		return read(t, fmt.Sprintf("%s%s%d", repo, kind, rapid.IntRange(1, slot.MaxNumber).Draw(t, "number")))
	}
	branch := rapid.OneOf(rapid.StringMatching(`[ab]([/#@!-]?[ab]){0,3}`), rapid.String()).
		Filter(func(s string) bool {
			_, err := slot.ParseCanonical("a.b/o/r@" + s)
			return err == nil && !strings.Contains(s, ":")
		}).Draw(t, "branch")
	if kind == "@" {
		return read(t, repo+"@"+branch)
	}
	return read(t, repo+"@"+branch+":"+text.Draw(t, "check"))
}

func read(t *rapid.T, s string) slot.Ref {
	r, err := slot.ParseRef(s, testGrammar())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRefsSurviveBeingWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { refHolds(t, genRef(t)) })
}

// C49 for all refs there are.
func TestC49_RefsAndNamesAreOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genRef(t), genRef(t)
		if (a == b) != (a.String() == b.String()) || (a == b) != (a.Slug() == b.Slug()) {
			t.Fatalf("%#v and %#v: written %q and %q, named %s and %s", a, b, a, b, a.Slug(), b.Slug())
		}
	})
}

// refHolds checks what is true of every ref.
func refHolds(t interface {
	Helper()
	Errorf(string, ...any)
}, r slot.Ref) {
	t.Helper()
	s := r.String()
	if back, err := slot.ParseCanonical(s); err != nil || back != r {
		t.Errorf("%q comes back as %q, %v", s, back, err)
	}
	// People paste what they were shown.
	if back, err := slot.ParseRef(s, testGrammar()); err != nil || back != r {
		t.Errorf("%q is read as %q, %v", s, back, err)
	}
	if back, err := slot.ParseScope(s, testGrammar()); err != nil || back != s {
		t.Errorf("%q is the scope %q, %v", s, back, err)
	}
	if repo := r.Repo(); repo != "" {
		if repo != r.Host()+"/"+r.Owner()+"/"+r.Name() {
			t.Errorf("%q: repository %q of %q, %q, %q", s, repo, r.Host(), r.Owner(), r.Name())
		}
		if !strings.HasPrefix(s, repo) {
			t.Errorf("%q does not begin with %q", s, repo)
		}
	}
	if r.IsZero() || len(s) > slot.MaxRef || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		t.Errorf("%q is no canonical form", s)
	}
	slugIsSafe(t, r)
}

// refusalHolds checks what is true of every refusal.
func refusalHolds(t *testing.T, err error) {
	t.Helper()
	e := new(slot.RefError)
	if !errors.As(err, &e) || !errors.Is(err, slot.ErrUsage) || e.Part == "" || e.Why == "" {
		t.Errorf("%#v is no *RefError that names its part", err)
	}
	if msg := err.Error(); len(msg) > 800 || !utf8.ValidString(msg) || strings.ContainsFunc(msg, unicode.IsControl) {
		t.Errorf("message %q", msg)
	}
}
