package slot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// testGrammar knows one host of each kind beside the public ones.
func testGrammar() slot.Grammar {
	return slot.Grammar{Hosts: map[string]string{
		"Git.Example.COM":         "gitea",
		"forgejo.example.com:443": "forgejo",
		"gogs.example.com:3000":   "gogs",
		"ghe.example.com":         "github",
		"gitlab.example.com":      "gitlab",
		"forge":                   "gitlab",
		"odd.example.com":         "sourcehut",
	}}
}

// long is the longest owner or name of a repository.
func long(s string) string { return strings.Repeat(s, slot.MaxName) }

func TestParseRefReads(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		// Repositories and hosts.
		{"octo/hello#7", "github.com/octo/hello#7"},
		{"Octo/Hello#7", "github.com/octo/hello#7"},
		{"github.com/octo/hello#7", "github.com/octo/hello#7"},
		{"GitHub.COM/octo/hello#7", "github.com/octo/hello#7"},
		{"github.com./octo/hello#7", "github.com/octo/hello#7"},
		{"github.com:443/octo/hello#7", "github.com/octo/hello#7"},
		{"github.com:80/octo/hello#7", "github.com/octo/hello#7"},
		{"www.github.com/octo/hello#7", "github.com/octo/hello#7"},
		{"octo/hello.git#7", "github.com/octo/hello#7"},
		{"octo/.github#7", "github.com/octo/.github#7"},
		{"octo/a.b#7", "github.com/octo/a.b#7"},
		{"octo/_-x#7", "github.com/octo/_-x#7"},
		{"octo/-#7", "github.com/octo/-#7"},
		{"octo/-rf#7", "github.com/octo/-rf#7"},
		{"my.org/hello#7", "github.com/my.org/hello#7"},
		{"octo/x.service#7", "github.com/octo/x.service#7"},
		{long("a") + "/" + long("b") + "#1", "github.com/" + long("a") + "/" + long("b") + "#1"},
		{"git.example.com:3000/o/r#1", "git.example.com:3000/o/r#1"},
		{"git.example.com.:3000/o/r#1", "git.example.com:3000/o/r#1"},
		{"localhost:3000/o/r#1", "localhost:3000/o/r#1"},
		{"127.0.0.1:3000/o/r#1", "127.0.0.1:3000/o/r#1"},
		{"my_host.lan/o/r#1", "my_host.lan/o/r#1"},
		{"xn--bcher-kva.example/o/r#1", "xn--bcher-kva.example/o/r#1"},
		{"group/sub/project#12", "github.com/group/sub/project#12"},
		{"my.group/sub/project#1", "my.group/sub/project#1"}, // a dot makes it a host
		{"gitlab.com/group/sub/project#12", "gitlab.com/group/sub/project#12"},
		{"gitlab.com/a/b/c/d/e#12", "gitlab.com/a/b/c/d/e#12"},
		{"forge/group/project#12", "forge/group/project#12"},
		{"FORGE/group/project#12", "forge/group/project#12"},
		{"forge/project#12", "github.com/forge/project#12"}, // two segments have no host

		// Numbers, and what counts merge requests.
		{"o/r#1", "github.com/o/r#1"},
		{"o/r#2147483647", "github.com/o/r#2147483647"},
		{"o/r!12", "github.com/o/r#12"},
		{"codeberg.org/o/r!12", "codeberg.org/o/r#12"},
		{"git.example.com/o/r!12", "git.example.com/o/r#12"},
		{"git.example.com:443/o/r!12", "git.example.com/o/r#12"},
		{"git.example.com:3000/o/r!12", "git.example.com:3000/o/r!12"}, // another host
		{"forgejo.example.com/o/r!12", "forgejo.example.com/o/r#12"},
		{"gogs.example.com:3000/o/r!12", "gogs.example.com:3000/o/r#12"},
		{"ghe.example.com/o/r!12", "ghe.example.com/o/r#12"},
		{"gitlab.com/o/r!12", "gitlab.com/o/r!12"},
		{"gitlab.example.com/g/s/p!12", "gitlab.example.com/g/s/p!12"},
		{"odd.example.com/o/r!12", "odd.example.com/o/r!12"},
		{"unknown.example.com/o/r!12", "unknown.example.com/o/r!12"},

		// Branches and checks.
		{"o/r@main", "github.com/o/r@main"},
		{"O/R@Main", "github.com/o/r@Main"},
		{"o/r@feature/x#3", "github.com/o/r@feature/x#3"},
		{"o/r@a!b@c", "github.com/o/r@a!b@c"},
		{"o/r@@", "github.com/o/r@@"},
		{"o/r@!1", "github.com/o/r@!1"},
		{"o/r@grün", "github.com/o/r@grün"},
		{"o/r@a%2fb", "github.com/o/r@a%2fb"},
		{"o/r@https", "github.com/o/r@https"},
		{"o/r@refs/x", "github.com/o/r@refs/x"},
		{"o/r@main:build", "github.com/o/r@main:build"},
		{"o/r@main:Build / test (ubuntu-latest, 1.26)", "github.com/o/r@main:Build / test (ubuntu-latest, 1.26)"},
		{"o/r@main:ci: lint: all", "github.com/o/r@main:ci: lint: all"},
		{"o/r@main:https://ci.example.com/#1", "github.com/o/r@main:https://ci.example.com/#1"},
		{"o/r@main: x ", "github.com/o/r@main: x "},
		{"group/sub/project@a/b:c/d", "github.com/group/sub/project@a/b:c/d"},

		// Keys.
		{"key:nightly", "key:nightly"},
		{"key:Nightly", "key:Nightly"},
		{"key:octo/hello#7", "key:octo/hello#7"},
		{"key:https://github.com/o/r/issues/1", "key:https://github.com/o/r/issues/1"},
		{"key:key:", "key:key:"},
		{"key: ", "key: "},
		{"key:ключ 鍵 🔑", "key:ключ 鍵 🔑"},
		{"key:" + strings.Repeat("k", slot.MaxText), "key:" + strings.Repeat("k", slot.MaxText)},

		// Web addresses: GitHub.
		{"https://github.com/Octo/Hello/pull/7", "github.com/octo/hello#7"},
		{"https://github.com/octo/hello/issues/12", "github.com/octo/hello#12"},
		{"http://github.com/octo/hello/issues/12", "github.com/octo/hello#12"},
		{"HTTPS://WWW.GitHub.com/octo/hello/issues/12/", "github.com/octo/hello#12"},
		{"https://github.com:443/octo/hello/pull/12", "github.com/octo/hello#12"},
		{"https://github.com:/octo/hello/pull/12", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello/pull/12/files", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello/pull/12/commits/0123abc", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello/pull/12#issuecomment-9", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello/issues/12#issuecomment-9", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello/pull/12/files?w=1&token=x#r9", "github.com/octo/hello#12"},
		{"https://me:secret@github.com/octo/hello/pull/12", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello/tree/main", "github.com/octo/hello@main"},
		{"https://github.com/octo/hello/tree/Feature/x", "github.com/octo/hello@Feature/x"},
		{"https://github.com/octo/hello/tree/a%23b", "github.com/octo/hello@a#b"},
		{"https://github.com/octo/hello/tree/a%2Fb", "github.com/octo/hello@a/b"},
		{"https://github.com/octo/hello/tree/a%2523b", "github.com/octo/hello@a%23b"}, // decoded once
		{"https://github.com/octo/hello/tree/x/-/issues/5", "github.com/octo/hello@x/-/issues/5"},
		{"https://github.com/octo/hello/tree/a@b", "github.com/octo/hello@a@b"},
		{"https://github.com/%6Fcto/hello/issues/12", "github.com/octo/hello#12"},
		{"https://github.com/o/-/issues/12", "github.com/o/-#12"},
		{"https://github.com/tree/issues/issues/12", "github.com/tree/issues#12"},
		{"https://ghe.example.com/o/r/pull/3/checks", "ghe.example.com/o/r#3"},
		{"github.com/octo/hello/pull/7", "github.com/octo/hello#7"}, // as browsers show it
		{"github.com/octo/hello/pull/7?diff=split", "github.com/octo/hello#7"},
		{"octo/hello/pull/7", "github.com/octo/hello#7"},

		// Gitea, Forgejo, Gogs.
		{"https://codeberg.org/o/r/issues/12", "codeberg.org/o/r#12"},
		{"https://codeberg.org/o/r/pulls/12", "codeberg.org/o/r#12"},
		{"https://codeberg.org/o/r/pulls/12/files", "codeberg.org/o/r#12"},
		{"https://git.example.com/o/r/pulls/12/commits/abc", "git.example.com/o/r#12"},
		{"http://gogs.example.com:3000/o/r/pulls/12#issuecomment-3", "gogs.example.com:3000/o/r#12"},
		{"https://git.example.com/o/r/src/branch/feature/x", "git.example.com/o/r@feature/x"},
		{"http://localhost:3000/o/r/pulls/12", "localhost:3000/o/r#12"},

		// GitLab.
		{"https://gitlab.com/g/p/-/issues/5", "gitlab.com/g/p#5"},
		{"https://gitlab.com/g/p/-/work_items/5", "gitlab.com/g/p#5"},
		{"https://gitlab.com/g/p/-/merge_requests/5", "gitlab.com/g/p!5"},
		{"https://gitlab.com/g/p/-/merge_requests/5/diffs?tab=1#note_7", "gitlab.com/g/p!5"},
		{"https://gitlab.com/g/s/t/p/-/merge_requests/5", "gitlab.com/g/s/t/p!5"},
		{"https://gitlab.com/g/p/-/tree/feature/x?ref_type=heads", "gitlab.com/g/p@feature/x"},
		{"https://gitlab.com/g/p/merge_requests/5", "gitlab.com/g/p!5"},
		{"https://gitlab.com/g/s/p/issues/5", "gitlab.com/g/s/p#5"},
		{"https://gitlab.com/g/issues/issues/5", "gitlab.com/g/issues#5"},
		{"https://gitlab.com/g/s/issues/5/-/issues/1", "gitlab.com/g/s/issues/5#1"},
		{"https://gitlab.com/g/p/tree/main", "gitlab.com/g/p@main"},
		{"http://forge/g/p/-/merge_requests/5", "forge/g/p!5"},

		// Hosts that nobody configured.
		{"https://git.unknown.org/o/r/pull/12", "git.unknown.org/o/r#12"},
		{"https://git.unknown.org/o/r/pulls/12", "git.unknown.org/o/r#12"},
		{"https://git.unknown.org/o/r/-/merge_requests/12", "git.unknown.org/o/r!12"},
		{"https://git.unknown.org/o/r/src/branch/main", "git.unknown.org/o/r@main"},
		{"https://git.unknown.org/o/r/tree/x/issues/5", "git.unknown.org/o/r@x/issues/5"},
	} {
		r, err := slot.ParseRef(c.in, testGrammar())
		if err != nil || r.String() != c.want {
			t.Errorf("ParseRef(%q) = %q, %v; want %q", c.in, r, err, c.want)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	for _, c := range []struct{ in, part, want string }{
		{"", "repository", "is missing"},
		{"octo/hello", "number", "is missing"},
		{"octo/hello#", "number", "is missing"},
		{"octo/hello#0", "number", "start at 1"},
		{"octo/hello#000", "number", "start at 1"},
		{"octo/hello#012", "number", "leading zero"},
		{"octo/hello#+1", "number", "only have digits"},
		{"octo/hello#-1", "number", "only have digits"},
		{"octo/hello#1 ", "number", "only have digits"},
		{"octo/hello#1.0", "number", "only have digits"},
		{"octo/hello#1_000", "number", "only have digits"},
		{"octo/hello#١", "number", "only have digits"},
		{"octo/hello#1@x", "number", "only have digits"},
		{"octo/hello#1#2", "number", "only have digits"},
		{"octo/hello#2147483648", "number", "larger than 2147483647"},
		{"octo/hello#99999999999999999999999", "number", "larger than"},
		{"octo/hello!", "number", "is missing"},
		{"#12", "repository", "no origin remote"},
		{"!12", "repository", "no origin remote"},
		{"@main", "repository", "is missing"},
		{"12", "repository", "needs an owner"},
		{"hello#7", "repository", "needs an owner"},
		{"Key:x", "repository", "needs an owner"},
		{"/hello#7", "owner", "is empty"},
		{"octo/#7", "repository", "is empty"},
		{"octo//hello#7", "owner", "is empty"},
		{" octo/hello#7", "owner", "may only have"},
		{"octo/hel lo#7", "repository", "may only have"},
		{"octo/héllo#7", "repository", "may only have"},
		{"octo/\u212Aelvin#7", "repository", "may only have"}, // folds to k
		{"octo/a\x10b#7", "repository", "may only have"},
		{"octo/a\x00b#7", "repository", "may only have"},
		{"octo/a%b#7", "repository", "may only have"},
		{`octo\hello#7`, "repository", "needs an owner"},
		{"-octo/hello#7", "owner", "starts with '-'"},
		{"../hello#7", "owner", "a step in a path"},
		{"octo/..#7", "repository", "a step in a path"},
		{"octo/.#7", "repository", "a step in a path"},
		{"octo/.git#7", "repository", "no name before .git"},
		{"octo/...git#7", "repository", "no name before .git"},
		{"octo/a.git.git#7", "repository", "no name before .git"},
		{"octo/" + strings.Repeat("a", 300) + "#7", "repository", "longer than 255"},
		{strings.Repeat("a/", 1100) + "b#7", "ref", "longer than 2048"},
		{"octo/hello#" + strings.Repeat("1", 9000), "ref", "longer than 8192"},

		{"github.com/hello#7", "repository", "a host but no owner"},
		{"www.github.com/hello#7", "repository", "a host but no owner"},
		{"localhost:3000/hello#7", "repository", "a host but no owner"},
		{"gitlab.example.com/hello!7", "repository", "a host but no owner"},
		{"git.example.com:x/o/r#1", "host", "port"},
		{"git.example.com:/o/r#1", "host", "port"},
		{"git.example.com:0/o/r#1", "host", "port"},
		{"git.example.com:0443/o/r#1", "host", "port"},
		{"git.example.com:65536/o/r#1", "host", "port"},
		{"git..example.com/o/r#1", "host", "empty label"},
		{"github.com../o/r#1", "host", "empty label"},
		{"./o/r#1", "host", "is empty"},
		{"../o/r#1", "host", "empty label"},
		{":80/o/r#1", "host", "is empty"},
		{"-a.example.com/o/r#1", "host", "starts or ends with '-'"},
		{"bücher.example/o/r#1", "host", "xn--"},
		{"git\u212Aub.com/o/r#1", "host", "xn--"},
		{"a%b.example/o/r#1", "host", "no host name has"},
		{"forgotten./o/r#1", "host", "not a configured host"},
		{"forgotten:443/o/r#1", "host", "not a configured host"},
		{"[::1]:3000/o/r#1", "host", "IPv6"},
		{strings.Repeat("a", 64) + ".example/o/r#1", "host", "longer than 63"},
		{strings.Repeat("a.", 127) + "example/o/r#1", "host", "longer than 253"},
		{"https://key:3000/o/r/issues/1", "host", "would read as a key"},

		{"o/r@", "branch", "is empty"},
		{"o/r@:build", "branch", "is empty"},
		{"o/r@a..b", "branch", `".."`},
		{"o/r@a b", "branch", "git forbids"},
		{"o/r@a~1", "branch", "git forbids"},
		{"o/r@a^", "branch", "git forbids"},
		{"o/r@a*", "branch", "git forbids"},
		{"o/r@a?", "branch", "git forbids"},
		{"o/r@a[0]", "branch", "git forbids"},
		{`o/r@a\b`, "branch", "git forbids"},
		{"o/r@a@{1}", "branch", `"@{"`},
		{"o/r@/a", "branch", "empty part"},
		{"o/r@a/", "branch", "empty part"},
		{"o/r@a//b", "branch", "empty part"},
		{"o/r@a.", "branch", "ends with '.'"},
		{"o/r@a/.b", "branch", "starts with '.'"},
		{"o/r@a.lock", "branch", ".lock"},
		{"o/r@a.lock/b", "branch", ".lock"},
		{"o/r@HEAD", "branch", "is what is checked out"},
		{"o/r@refs/heads/main", "branch", "leave that out"},
		{"o/r@a\tb", "branch", "control character"},
		{"o/r@a\x7fb", "branch", "control character"},
		{"o/r@a\xffb", "branch", "UTF-8"},
		{"o/r@" + strings.Repeat("b", 513), "branch", "longer than 512"},
		{"o/r@main:", "check", "is empty"},
		{"o/r@main:a\nb", "check", "control character"},
		{"o/r@main:a\u0085b", "check", "control character"},
		{"o/r@main:a\u2028b", "check", "line separator"},
		{"o/r@main:a\xc3", "check", "UTF-8"},
		{"key:", "key", "is empty"},
		{"key:a\x00", "key", "control character"},
		{"key:a\r\n", "key", "control character"},
		{"key:a\u202eb", "key", "direction of writing"},
		{"key:\u2066a", "key", "direction of writing"},
		{"o/r@main:a\u200fb", "check", "direction of writing"},
		{"key:\xc0\x80", "key", "UTF-8"},
		{"key:" + strings.Repeat("k", 513), "key", "longer than 512"},

		{"ftp://github.com/o/r/issues/1", "address", "http or https"},
		{"ssh://git@github.com/o/r.git", "address", "http or https"},
		{"https://", "host", "is empty"},
		{"https://github.com", "repository", "needs an owner"},
		{"https://github.com/octo/hello", "number", "is missing"},
		{"https://github.com/octo/hello/issues", "address", "is a list"},
		{"https://github.com/octo/hello/issues/new", "number", "only have digits"},
		{"https://github.com/octo/hello/issues/012", "number", "leading zero"},
		{"https://github.com/octo/hello/wiki/7", "address", "not an issue"},
		{"https://github.com/octo/hello/-/issues/7", "address", "not an issue"},
		{"https://github.com/octo/hello/pulls/7", "address", "not an issue"},
		{"https://api.github.com/repos/octo/hello/issues/7", "address", "not where repositories are"},
		{"https://github.com/octo/../issues/7", "address", "a step"},
		{"https://github.com/octo/%2e%2e/issues/7", "address", "a step"},
		{"https://github.com/octo/a%2Fb/issues/7", "repository", "may only have"},
		{"https://github.com/octo/a%zz/issues/7", "address", "cannot be read"},
		{"octo/hello/tree/a%zz", "address", "encodes nothing"},
		{"https://github.com//octo/hello/issues/7", "address", "not an issue"},
		{"https://github.com/octo/hello/tree", "address", "is a list"},
		{"https://github.com/octo/hello/tree/a%3Ab", "branch", "git forbids"},
		{"https://github.com/octo/hello/tree/a%0Ab", "branch", "control character"},
		{"https://codeberg.org/o/r/src/tag/v1", "address", "not a branch"},
		{"https://codeberg.org/o/r/src/branch", "address", "not a branch"},
		{"https://gitlab.com/g/p/pull/5", "number", "is missing"},
		{"https://gitlab.com/g/p/-/pipelines/5", "address", "not an issue"},
		{"https://gitlab.com/g/p/-/issues", "address", "is a list"},
		{"https://gitlab.com/g/p/-", "number", "is missing"},
		{"https://gitlab.com/groups/g/-/work_items/1", "address", "not where repositories are"},
		{"https://gitlab.com/api/v4/projects/5/issues/3", "address", "not where repositories are"},
		{"http://localhost/o/r/issues/1", "host", "not a configured host"},
		{"https://[::1]/o/r/issues/1", "host", "IPv6"},
	} {
		r, err := slot.ParseRef(c.in, testGrammar())
		var e *slot.RefError
		if !errors.As(err, &e) || !errors.Is(err, slot.ErrUsage) || !r.IsZero() {
			t.Errorf("ParseRef(%q) = %q, %v; want a usage error", c.in, r, err)
			continue
		}
		if e.Part != c.part || !strings.Contains(e.Why, c.want) {
			t.Errorf("ParseRef(%q): %q %q; want %q with %q", c.in, e.Part, e.Why, c.part, c.want)
		}
		if msg := err.Error(); !strings.Contains(msg, c.want) || !strings.Contains(msg, "owner/repo#12") || len(msg) > 500 {
			t.Errorf("ParseRef(%q): message %q", c.in, msg)
		}
	}
}

// What lacks a part is repeated as a whole, unless it may hold a password.
func TestRefusalRepeatsWhatLacksAPart(t *testing.T) {
	for in, want := range map[string]string{
		"octo-org/octo-repo":          `"octo-org/octo-repo" is not a ref: its number is missing; write octo-org/octo-repo#12 (`,
		"gitlab.com/a/b/c/":           `"gitlab.com/a/b/c/" is not a ref: its number is missing; write gitlab.com/a/b/c#12 (`,
		"https://u:pw@github.com/a/b": `not a ref: number is missing; write github.com/a/b#12 (`,
		"a/b?token=pw":                `not a ref: number is missing; write github.com/a/b#12 (`,
		"a/b#":                        `"a/b#" is not a ref: its number is missing (`,
		"#12":                         `"#12" is not a ref: its repository is missing, and there is no origin`,
		"key:":                        `"key:" is not a ref: its key is empty (`,
		"a/b#012":                     `not a ref: number "012" has a leading zero (`,
	} {
		if _, err := slot.ParseRef(in, slot.Grammar{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", in, err, want)
		}
	}
}
