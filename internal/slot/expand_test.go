package slot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func mustRef(t testing.TB, s string) slot.Ref {
	t.Helper()
	r, err := slot.ParseCanonical(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExpand(t *testing.T) {
	pull := "github.com/octo-org/hello.world#12"
	for _, c := range []struct{ text, ref, sha, want string }{
		{"plain", pull, "", "plain"},
		{"bob-pm-*-slot-{dashed}.service", pull, "", "bob-pm-*-slot-octo-org-hello.world-12.service"},
		{"{ref}|{owner}|{repo}|{number}|{sha}", pull, "0a1b", "github.com/octo-org/hello.world#12|octo-org|hello.world|12|0a1b"},
		{"{dashed} {owner}", "gitlab.com/g/s/p!5", "", "g-s-p-5 g/s"},
		{"x{sha}", pull, "", "x"},
		{`${ref} {"a": {number}} { } {} {a`, pull, "", `${ref} {"a": 12} { } {} {a`},
		{"{ref}", "key:nightly", "", "key:nightly"},
		{"{ref}", "github.com/o/r@feature/x", "", "github.com/o/r@feature/x"},
		{"{slug}", "key:a b", "", mustRef(t, "key:a b").Slug()},
	} {
		got, err := slot.Expand(c.text, mustRef(t, c.ref), c.sha)
		if err != nil || got != c.want {
			t.Errorf("Expand(%q, %s, %q) = %q, %v; want %q", c.text, c.ref, c.sha, got, err, c.want)
		}
	}
}

// P12: what a stranger may have named never reaches a command.
func TestExpandRefuses(t *testing.T) {
	for _, c := range []struct{ text, ref, sha, names string }{
		{"{owner}", "key:x", "", "no owner"},
		{"{repo}", "key:x", "", "no repository"},
		{"{number}", "github.com/o/r@main", "", "no number"},
		{"{dashed}", "key:x", "", "no number"},
		{"{nope}", "key:x", "", "{nope}"},
		{"{sha}", "github.com/o/r#1", "$(id)", "not named by a hash"},
		{"{ref}", "key:$(id)", "", "{slug}"},
		{"{ref}", "github.com/o/r@a`id`", "", "{slug}"},
		{"{ref}", "github.com/o/r@main:a b", "", "{slug}"},
		{"{ref}", "github.com/o/r@main:../../x", "", "{slug}"},
	} {
		got, err := slot.Expand(c.text, mustRef(t, c.ref), c.sha)
		if !errors.Is(err, slot.ErrUsage) || got != "" || !strings.Contains(err.Error(), c.names) {
			t.Errorf("Expand(%q, %s, %q) = %q, %v; want a refusal with %q", c.text, c.ref, c.sha, got, err, c.names)
		}
	}
	if _, err := slot.Expand("{slug}", slot.Ref{}, ""); err == nil {
		t.Error("no ref has a slug")
	}
	if err := slot.CheckExpand("a {number} {Repo}"); err == nil || !strings.Contains(err.Error(), "{Repo}") {
		t.Errorf("CheckExpand: %v", err)
	}
	if err := slot.CheckExpand("{ref}{owner}{repo}{number}{sha}{slug}{dashed}${HOME}{ 1}"); err != nil {
		t.Error(err)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("{ref} {dashed} ${x} {", "key:a", "abc")
	f.Add("{{ref}}{sha}", "github.com/o/r@x`y`", "..")
	f.Fuzz(func(t *testing.T, text, ref, sha string) {
		r, err := slot.ParseCanonical(ref)
		if err != nil {
			return
		}
		known := slot.CheckExpand(text)
		out, err := slot.Expand(text, r, sha)
		if err != nil {
			return
		}
		if known != nil {
			t.Errorf("%q expands to %q, but %v", text, out, known)
		}
		if values, err := slot.Expand("{ref}{sha}{slug}", r, sha); err == nil &&
			(strings.ContainsAny(values, " \t\n$`'\"\\;&|<>(){}*?[]~%\x00") || strings.Contains(values, "/../")) {
			t.Errorf("%s gives %q", r, values)
		}
		quoted, err := slot.ExpandFunc(text, r, sha, func(string) string { return "" })
		if err != nil || len(quoted) > len(text) {
			t.Errorf("%q of %s, quoted: %q, %v", text, r, quoted, err)
		}
	})
}
