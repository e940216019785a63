package closing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/closing"
	"github.com/oneslot/oneslot/internal/slot"
)

func names(refs []slot.Ref) string {
	var s []string
	for _, r := range refs {
		s = append(s, strings.TrimPrefix(strings.TrimPrefix(r.String(), "github.com/"), "octo-org/octo-repo"))
	}
	return strings.Join(s, " ")
}

// C59: does a text close octo-org/octo-repo#12? By the rules of GitHub.
func TestC59_ClosingKeywords(t *testing.T) {
	for text, want := range map[string]string{
		"Fixes #12":                   "#12",
		"fixes: #12":                  "#12",
		"FIXED #12":                   "#12",
		"Fixed\t#12.":                 "#12",
		"This closes #34, closes #23": "#34 #23",
		"closes #120":                 "#120",
		"closes #12, #13":             "#12",
		"closes #12 and closes #13":   "#12 #13",
		"fix #12; resolve #13":        "#12 #13",
		"resolves #1 and resolved #2": "#1 #2",
		"fixes #12 fixes #12":         "#12",
		"fixes Octo-Org/Octo-Repo#12": "#12",
		"fixes octo-org/other#12":     "octo-org/other#12",
		"Fixes GH-12":                 "#12",
		"**Fixes #12**":               "#12",
		"- [x] closes #12":            "#12",
		"(fixes #12)":                 "#12",
		"fix: closes #12":             "#12",
		"Fixes: #12\r\nFixes: #13":    "#12 #13",
		"fixes #12。":                  "#12",
		"修正，fixes #12":                "#12",

		"Fixes https://github.com/octo-org/octo-repo/issues/12":                "#12",
		"Fixes https://github.com/octo-org/octo-repo/issues/12.":               "#12",
		"Fixes https://github.com/octo-org/octo-repo/issues/12#issuecomment-9": "#12",
		"Fixes https://github.com/octo-org/other/issues/12":                    "octo-org/other#12",
		"Fixes https://git.example.com/octo-org/octo-repo/issues/12":           "",
		"Fixes https://github.com/octo-org/octo-repo":                          "",
		"Fixes https://github.com/octo-org/octo-repo/tree/12":                  "",

		// A squash's message, with what its author wrote below; and what a merge says.
		"Make it fast (#12)": "",
		"Make it fast (#34)\n\n* one\n\n* two, fixes #12\n\nCo-authored-by: Eve <e@example.com>": "#12",
		"Merge pull request #12 from octo-org/fix\n\nFix the thing":                              "",
		"Merge branch 'x' into 'main'\n\nx\n\nCloses #12\n\nSee merge request octo/x!5":          "#12",
		"Speed\n\nSigned-off-by: Ann <a@example.com>\nCloses: #12\nReviewed-by: Bob":             "#12",
		"Revert \"Go faster, fixes #12\"\n\nThis reverts commit 1234567.":                        "",
		"Reapply \"Go faster, fixes #12\"":                                                       "#12",

		"#12":                                    "",
		"see #12":                                "",
		"prefixes #12":                           "",
		"préfixes #12":                           "",
		"hot-fixes #12":                          "",
		"/fixes #12":                             "",
		"fixes#12":                               "",
		"fixes:#12":                              "",
		"fixes\n#12":                             "",
		"fixes the bug in #12":                   "",
		"fixes issue #12":                        "",
		"closing #12":                            "",
		"implements #12":                         "",
		"fixesx #12":                             "",
		"fixes !12":                              "",
		"fixes #12a":                             "",
		"fixes #12-3":                            "",
		"fixes #12.5":                            "",
		"fixes #12é":                             "",
		"fixes # 12":                             "",
		"fixes #":                                "",
		"fixes #012":                             "",
		"fixes #0":                               "",
		"fixes #99999999999999999999":            "",
		"fixes octo-repo#12":                     "",
		"fixes a/b/c#12":                         "",
		"fixes ../x#12":                          "",
		"fixes github.com/o/r#12":                "",
		"`fixes #12`":                            "",
		"fixes `#12`":                            "",
		"```\nfixes #12\n```":                    "",
		"    fixes #12":                          "",
		"> fixes #12":                            "",
		"<!-- fixes #12 -->":                     "",
		"<code>fixes #12</code>":                 "",
		"fixes <!-- x --> #12":                   "",
		"fixes \\#12":                            "",
		"Yes.\n\nOn Mon Bob wrote:\n\nfixes #12": "",
		"":                                       "",
	} {
		if got := names(closing.In(text, "github", "github.com/octo-org/octo-repo")); got != want {
			t.Errorf("%q closes %q, not %q", text, got, want)
		}
	}
}

// What differs on other forges.
func TestC59_OtherForges(t *testing.T) {
	for _, c := range []struct{ forge, repo, text, want string }{
		{"gitea", "git.example.com/o/r", "Fixes #12, closes: !13", "git.example.com/o/r#12 git.example.com/o/r#13"},
		{"forgejo", "codeberg.org/o/r", "fixes https://codeberg.org/o/r/issues/12", "codeberg.org/o/r#12"},
		{"gogs", "git.example.com/o/r", "Fixes #12, #13", "git.example.com/o/r#12"},
		{"gitea", "git.example.com/o/r", "fixes GH-12", ""},
		{"gitea", "git:3000/o/r", "fixes o/x#2 and closes http://git:3000/o/r/issues/3", "git:3000/o/x#2 git:3000/o/r#3"},
		{"", "git.example.com/o/r", "Fixes #12, !13 and closing #14", "git.example.com/o/r#12"},

		{"gitlab", "gitlab.com/g/s/p", "Closes #4, #6, and #7", "gitlab.com/g/s/p#4 gitlab.com/g/s/p#6 gitlab.com/g/s/p#7"},
		{"gitlab", "gitlab.com/g/p", "Fix #20, Fixes #21 and Closes group/otherproject#22.\nThis commit is also related to #17 and fixes #18, #19\nand https://gitlab.com/group/otherproject/issues/23.",
			"gitlab.com/g/p#20 gitlab.com/g/p#21 gitlab.com/group/otherproject#22 gitlab.com/g/p#18 gitlab.com/g/p#19 gitlab.com/group/otherproject#23"},
		{"gitlab", "gitlab.com/g/p", "Closing issues #4,#5 #6", "gitlab.com/g/p#4 gitlab.com/g/p#5 gitlab.com/g/p#6"},
		{"gitlab", "gitlab.com/g/s/p", "Implements: other#4", "gitlab.com/g/s/other#4"},
		{"gitlab", "gitlab.com/g/p", "Closes https://gitlab.com/g/s/p/-/issues/4", "gitlab.com/g/s/p#4"},
		{"gitlab", "gitlab.com/g/p", "CLOSES #4", ""},
		{"gitlab", "gitlab.com/g/p", "Closes !4", ""},
		{"gitlab", "gitlab.com/g/p", "Closes https://gitlab.com/g/p/-/merge_requests/4", ""},
		{"gitlab", "gitlab.com/g/p", "Closes #4\n#5", "gitlab.com/g/p#4"},
		{"gitlab", "gitlab.com/g/p", "Closes #4, which #5 brought", "gitlab.com/g/p#4"},
	} {
		if got := names(closing.In(c.text, c.forge, c.repo)); got != c.want {
			t.Errorf("%s: %q closes %q, not %q", c.forge, c.text, got, c.want)
		}
	}
}

// Whatever a text says: what it closes is of the same host and written in it, each
// once, and nothing of it is left when all of it is quoted or taken for code.
func FuzzIn(f *testing.F) {
	for _, s := range []string{"Fixes #12", "closes: a/b#3, and #4", "fixes https://github.com/a/b/issues/1", "Implements issues #1 and #2", "GH-1", "`fixes #1`"} {
		for _, forge := range []string{"github", "gitlab", "gitea", ""} {
			f.Add(s, forge)
		}
	}
	f.Fuzz(func(t *testing.T, text, forge string) {
		got := closing.In(text, forge, "github.com/o/r")
		for i, r := range got {
			_, number, _ := strings.Cut(r.String(), "#")
			if r.Host() != "github.com" || r.Kind() != slot.RefIssue || !strings.Contains(text, number) || slices.Contains(got[:i], r) {
				t.Fatalf("%q closes %v", text, got)
			}
		}
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		for _, mark := range []string{"> ", "\t"} {
			if got := closing.In(mark+strings.ReplaceAll(plain, "\n", "\n"+mark), forge, "github.com/o/r"); len(got) != 0 {
				t.Fatalf("marked by %q, %q closes %v", mark, text, got)
			}
		}
	})
}
