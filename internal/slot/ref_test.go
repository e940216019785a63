package slot_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func mustParse(t *testing.T, s string) slot.Ref {
	t.Helper()
	r, err := slot.ParseRef(s, testGrammar())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRefParts(t *testing.T) {
	type parts struct {
		Kind                                           slot.RefKind
		Host, Owner, Name, Repo, Branch, Check, KeyWas string
		Number                                         int
	}
	for in, want := range map[string]parts{
		"Octo/Hello#7": {Kind: slot.RefIssue, Host: "github.com", Owner: "octo", Name: "hello",
			Repo: "github.com/octo/hello", Number: 7},
		"gitlab.com/g/s/p!7": {Kind: slot.RefMerge, Host: "gitlab.com", Owner: "g/s", Name: "p",
			Repo: "gitlab.com/g/s/p", Number: 7},
		"a.b:3000/o/r@X/y": {Kind: slot.RefBranch, Host: "a.b:3000", Owner: "o", Name: "r",
			Repo: "a.b:3000/o/r", Branch: "X/y"},
		"o/r@X:C:d": {Kind: slot.RefCheck, Host: "github.com", Owner: "o", Name: "r",
			Repo: "github.com/o/r", Branch: "X", Check: "C:d"},
		"key:a/b#1": {Kind: slot.RefKey, KeyWas: "a/b#1"},
	} {
		r := mustParse(t, in)
		got := parts{r.Kind(), r.Host(), r.Owner(), r.Name(), r.Repo(), r.Branch(), r.Check(), r.Key(), r.Number()}
		if got != want || r.IsZero() {
			t.Errorf("%s: %+v; want %+v", in, got, want)
		}
	}
}

func TestZeroRefNamesNothing(t *testing.T) {
	var r slot.Ref
	if !r.IsZero() || r.String() != "" || r.Repo() != "" || r.Owner() != "" || r.Name() != "" || r.Kind() != "" {
		t.Errorf("zero ref: %#v", r)
	}
	if _, err := slot.ParseCanonical(""); err == nil {
		t.Error("nothing is read as a ref")
	}
}

func TestRefInJSON(t *testing.T) {
	type record struct {
		Ref  slot.Ref         `json:"ref"`
		None slot.Ref         `json:"none"`
		By   map[slot.Ref]int `json:"by"`
	}
	in := record{Ref: mustParse(t, "o/r@a&b:<c>"), By: map[slot.Ref]int{mustParse(t, "o/r#1"): 1}}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out record
	if err := json.Unmarshal(text, &out); err != nil || out.Ref != in.Ref || !out.None.IsZero() || out.By[mustParse(t, "o/r#1")] != 1 {
		t.Errorf("%s came back as %+v, %v", text, out, err)
	}
	if err := json.Unmarshal([]byte(`{"ref":"o/r#1"}`), &out); !errors.Is(err, slot.ErrUsage) {
		t.Errorf("a ref without its host: %v", err)
	}
}

// C40, C44: one repository written differently is one slot, issue and merge
// request of GitLab are two.
func TestC40_WrittenDifferentlySameSlot(t *testing.T) {
	want := mustParse(t, "octo-org/octo-repo#7")
	for _, s := range []string{
		"Octo-Org/Octo-Repo#7", "octo-org/octo-repo!7", "github.com/OCTO-ORG/octo-repo.git#7",
		"https://github.com/Octo-Org/octo-repo/pull/7", "https://www.github.com/octo-org/octo-repo/issues/7#issuecomment-1",
	} {
		if r := mustParse(t, s); r != want || r.Slug() != want.Slug() {
			t.Errorf("%s is %s, want %s", s, r, want)
		}
	}
}

func TestC44_IssueAndMergeRequestAreTwo(t *testing.T) {
	issue, merge := mustParse(t, "gitlab.com/g/p#1"), mustParse(t, "gitlab.com/g/p!1")
	if issue == merge || issue.Slug() == merge.Slug() {
		t.Errorf("%s and %s are one slot", issue, merge)
	}
}

func TestDefaultHost(t *testing.T) {
	for host, want := range map[string]string{
		"GitLab.com":       "gitlab.com/g/p!1",
		"forge":            "forge/g/p!1",
		"git.example.com.": "git.example.com/g/p#1",
		"a.example:3000":   "a.example:3000/g/p!1",
	} {
		g := testGrammar()
		g.DefaultHost = host
		r, err := slot.ParseRef("g/p!1", g)
		if err != nil || r.String() != want {
			t.Errorf("default host %s: %q, %v; want %s", host, r, err, want)
		}
		if again, err := slot.ParseRef(want, g); err != nil || again != r {
			t.Errorf("default host %s: %s is read as %q, %v", host, want, again, err)
		}
	}
	_, err := slot.ParseRef("g/p#1", slot.Grammar{DefaultHost: "a b"})
	if e := new(slot.RefError); !errors.As(err, &e) || e.Part != "default host" {
		t.Errorf("a bad default host: %v", err)
	}
}

func TestParseCanonicalReadsNothingElse(t *testing.T) {
	for _, s := range []string{
		"o/r#1", "github.com/O/r#1", "GitHub.com/o/r#1", "github.com./o/r#1", "github.com:443/o/r#1",
		"www.github.com/o/r#1", "github.com/o/r.git#1", "github.com/o/r!1", "codeberg.org/o/r!1",
		"github.com/o/r#01", "github.com/o/r", "github.com/o/r@a:", "https://github.com/o/r/issues/1",
		"#1", "key:", "Key:a", "/o/r#1", "github.com/o/r#1\n", "key:" + strings.Repeat("k", 2100),
	} {
		if r, err := slot.ParseCanonical(s); !errors.Is(err, slot.ErrUsage) || !r.IsZero() {
			t.Errorf("ParseCanonical(%q) = %q, %v", s, r, err)
		}
	}
}

// C60: what git would not take as a branch never becomes a ref, and what does
// leaves no trace of its kind in a name that is made of it.
func TestC60_BranchesAreData(t *testing.T) {
	for _, s := range []string{"../../etc/x", "a/../../b", ".git", "-rf", "a/.git/hooks", "--upload-pack=x", "a\nb", "a\x1b[2Jb"} {
		r, err := slot.ParseRef("o/r@"+s, slot.Grammar{})
		if !errors.Is(err, slot.ErrUsage) {
			t.Errorf("branch %q: %q, %v", s, r, err)
		} else if strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("branch %q: the error repeats control characters", s)
		}
	}
	for _, s := range []string{`";touch`, "$(id)", "`id`", "a&b|c;d", "%h%n", "..a"[2:], "a'b\"c", "@a", "{ref}", "grün/ключ"} {
		slugIsSafe(t, mustParse(t, "o/r@"+s))
		slugIsSafe(t, mustParse(t, "o/r@main:../../"+s))
	}
}

// The rule for branches is git's own.
func TestBranchesAreJudgedAsByGit(t *testing.T) {
	t.Parallel()
	names := []string{
		"HEAD", "@@", "heads/a", "refs/tags/a", "a.lockb", "a.lock", "a.lock/b", "a/b.lock", ".lock", "a..", "..", "a..b", "a.b.",
		"a//b", "a/.b", "a/b.", "a/-b", "a@{b", "a@{", "a{@b", "a/@", "a/HEAD",
	}
	for _, c := range "!\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~ \x01\x7fük" {
		for _, frame := range []string{"*", "a*", "*a", "a*b"} {
			names = append(names, strings.ReplaceAll(frame, "*", string(c)))
		}
	}
	for _, name := range names {
		want := exec.Command("git", "check-ref-format", "--branch", name)
		want.Env = append(os.Environ(), "GIT_DIR=/nonexistent") // outside of any repository
		gitTakes := want.Run() == nil
		_, err := slot.ParseRef("o/r@"+name, slot.Grammar{})
		if (err == nil) != gitTakes {
			t.Errorf("branch %q: git takes it: %v; ours: %v", name, gitTakes, err)
		}
	}
}
