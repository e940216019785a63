package slot_test

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func seeds(f *testing.F) {
	for _, s := range []string{
		"", "#12", "!12", "octo/hello#7", "Octo/Hello.git#7", "github.com/octo/hello#7", "gitlab.com/g/s/p!5", "forge/g/p#1",
		"git.example.com:3000/o/r#1", "localhost:443/o/r#1", "key:3000/o/r#1", "www.github.com./o/r!1", "a./b/c#1", "./../x#1",
		"o/r@feature/x#3", "o/r@main:build / test (1)", "o/r@main:https://x", "o/r@a:b:c@d#e", "o/r@-rf", "o/r@../../etc/x", "o/r@@",
		"key:", "key:\x00", "key:\u2028", "key:鍵", "octo/hello#012", "octo/hello#99999999999999999999", "\u212A/\u212A#1",
		"https://github.com/Octo/Hello/pull/7/files?w=1#r9", "https://me:pw@github.com/o/r/tree/a%2523b", "http://[::1]/o/r/issues/1",
		"https://gitlab.com/g/s/p/-/merge_requests/5/diffs", "https://gitlab.com/g/issues/issues/5", "https://codeberg.org/o/r/src/branch/x/y",
		"https://git.unknown.org/a/b/-/tree/c", "https://x.y/%2e%2e/%2f/issues/1", "https://key:1/o/r/issues/1", "octo/hello/pull/7?x",
		"git@github.com:octo/hello.git", "ssh://git@ssh.github.com:443/o/r.git", "git@github.com-work:o/r", "/srv/git/x.git", `C:\x`,
		"octo/hello", "gitlab.com/g/s/p", "https://github.com/octo/hello/", "g/s/issues/5", "g/s/issueS/5", "gitlab.com/g/s/Tree/x", "forge/g/s/issues/5.git", "o/r@refs/heads/main", "o/r@a.lock/b", "o/...git#1",
	} {
		f.Add(s)
	}
}

// The input is read as a ref, and as the address of origin for "#12" alone.
func FuzzParseRef(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		g := testGrammar()
		g.Origin = func() (string, error) { return s, nil }
		for _, in := range []string{s, "#12"} {
			r, err := slot.ParseRef(in, g)
			if err != nil {
				refusalHolds(t, err)
				continue
			}
			refHolds(t, r)
		}
		if r, err := slot.ParseRef("#12", g); err == nil && (r.Kind() != slot.RefIssue || r.Number() != 12) {
			t.Errorf("with origin %q, #12 is %s", s, r)
		}
		// A password is never repeated, whatever the rest looks like.
		if _, err := slot.ParseRef("https://me:canary9@"+s, g); err != nil && strings.Contains(err.Error(), "canary9") && !strings.Contains(s, "canary9") {
			t.Errorf("password repeated for %q: %v", s, err)
		}
	})
}

func FuzzParseCanonical(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := slot.ParseCanonical(s)
		if err != nil {
			refusalHolds(t, err)
			return
		}
		if r.String() != s {
			t.Errorf("%q is read as %q", s, r)
		}
		slugIsSafe(t, r)
		text, _ := r.MarshalText()
		var back slot.Ref
		if err := back.UnmarshalText(text); err != nil || back != r {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
	})
}

func FuzzParseScope(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		scope, err := slot.ParseScope(s, testGrammar())
		if err != nil {
			refusalHolds(t, err)
			return
		}
		if again, err := slot.ParseScope(scope, testGrammar()); err != nil || again != scope {
			t.Errorf("%q is the scope %q, and that is %q, %v", s, scope, again, err)
		}
		// A ref, or the repository of refs: nothing else can ever be matched.
		if _, err := slot.ParseCanonical(scope); err == nil {
			return
		}
		if r, err := slot.ParseCanonical(scope + "#1"); err != nil || r.Repo() != scope {
			t.Errorf("%q is the scope %q, which no ref has", s, scope)
		}
	})
}
