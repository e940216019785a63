package slot_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// A DNS label is the narrowest of what slugs are used as; systemd, Docker,
// Podman, git and file systems that fold case take it too.
var safeSlug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func slugIsSafe(t interface{ Errorf(string, ...any) }, r slot.Ref) {
	if s := r.Slug(); !safeSlug.MatchString(s) {
		t.Errorf("slug of %q is %q", r, s)
	}
}

func TestC49_DifferentRefsDifferentNames(t *testing.T) {
	long := strings.Repeat("a", 250)
	seen := map[string]string{}
	for _, s := range []string{
		"octo/org-repo#1", "octo-org/repo#1", "octo/org/repo#1", "octo/org_repo#1", "octo/org.repo#1",
		"octo/org-repo#11", "octo/org-repo-1#1", "octo/org-repo@1", "octo/org-repo@1:1", "octo/org-repo@1-1",
		"codeberg.org/octo/org-repo#1", "localhost:3000/octo/org-repo#1", "localhost:3001/octo/org-repo#1",
		"gitlab.com/octo/org-repo#1", "gitlab.com/octo/org-repo!1", "gitlab.com/octo/org-repo@mr-1",
		"o/a.b#1", "o/a-b#1", "o/a_b#1", "o/ab#1",
		"key:a", "key:A", "key:a ", "key: a", "key:ä", "key:%", "key:@", `key:\`, "key:-", "key:.", "key:..", "key:/",
		"key:a.service", "key:a", "key:key:a", "key:-rf", "key:../../etc/x", "key:octo/org-repo#1", "key:octo-org-repo-1",
		"o/r@Main", "o/r@main", "o/r@MAIN", "o/r@main:A", "o/r@main:a", "o/r@main/a", "o/r@main-a",
		"_/_@ü", "_/_@ö", "o/-#1", "o/.x#1", "o/x#1", "o/_#1", "_/_#1", "o/x.service#1",
		"o/" + long + "b#1", "o/" + long + "c#1", "o/r@" + long + "/" + long + "b", "o/r@" + long + "/" + long + "c",
		"key:" + strings.Repeat("k", 300), "key:" + strings.Repeat("k", 301), "key:" + strings.Repeat("ä", 150), "key:" + strings.Repeat("ä", 151),
	} {
		r := mustParse(t, s)
		slugIsSafe(t, r)
		if other, ok := seen[r.Slug()]; ok && other != r.String() {
			t.Errorf("%s and %s have one name, %s", r, other, r.Slug())
		}
		seen[r.Slug()] = r.String()
	}
}

// C49: a ref that cannot be written as a name is an error, not another ref.
func TestC49_NoNameNoRef(t *testing.T) {
	for _, s := range []string{
		"octo/" + strings.Repeat("a", 300) + "#1", "octo/a%b#1", `octo/a\b#1`, "octo/a b#1", "-octo/a#1", "./a#1", "octo/..#1",
	} {
		if r, err := slot.ParseRef(s, slot.Grammar{}); err == nil {
			t.Errorf("%q is read as %s", s, r)
		}
	}
}

// Names outlive a program: a slug that changed would give a slot two folders.
func TestSlugStaysTheSame(t *testing.T) {
	for in, want := range map[string]string{
		"octo-org/octo-repo#12":          "octo-org-octo-repo-12-qvazd5uaxujuofi4suxt3m2gm5",
		"gitlab.com/g/s/p!5":             "g-s-p-mr-5-2mgk4j5zop5ugawmoqalgtuv53",
		"o/r@Feature/x:build (1)":        "o-r-feature-x-build-1-5rmrvuh5wv33jt3edx7c6vrphb",
		"key:鍵":                          "key-hyxzsxl6neyjl4btuycfdma4ho",
		"o/" + long("a") + "#2147483647": "o-aaaaaaaaaaaaaaaaaaaaaaa-2147483647-hdcytsh7hoig54buixujhn2su5",
	} {
		if got := mustParse(t, in).Slug(); got != want {
			t.Errorf("%q: slug %q, want %q", in, got, want)
		}
	}
}
