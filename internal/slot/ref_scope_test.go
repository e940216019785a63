package slot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func TestParseScope(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"octo/hello", "github.com/octo/hello"},
		{"Octo/Hello.git", "github.com/octo/hello"},
		{"octo/hello/", "github.com/octo/hello"},
		{"github.com/octo/hello", "github.com/octo/hello"},
		{"group/sub/project", "github.com/group/sub/project"},
		{"gitlab.com/group/sub/project", "gitlab.com/group/sub/project"},
		{"forge/group/project", "forge/group/project"},
		{"git.example.com:3000/o/r", "git.example.com:3000/o/r"},
		{"https://github.com/octo/hello", "github.com/octo/hello"},
		{"https://github.com/octo/hello/", "github.com/octo/hello"},
		{"https://github.com/octo/hello.git?x#y", "github.com/octo/hello"},
		{"https://gitlab.com/g/s/t/p", "gitlab.com/g/s/t/p"},
		{"https://git.unknown.org/o/r", "git.unknown.org/o/r"},
		{"*", slot.Everything},
		// Everything that is a ref.
		{"octo/hello#7", "github.com/octo/hello#7"},
		{"gitlab.com/g/p!7", "gitlab.com/g/p!7"},
		{"octo/hello@main:build", "github.com/octo/hello@main:build"},
		{"key:nightly", "key:nightly"},
		{"https://github.com/octo/hello/pull/7/files", "github.com/octo/hello#7"},
		{"octo/hello/pull/7", "github.com/octo/hello#7"},
		{"gitlab.com/g/p/-/merge_requests/7", "gitlab.com/g/p!7"},
	} {
		got, err := slot.ParseScope(c.in, testGrammar())
		if err != nil || got != c.want {
			t.Errorf("ParseScope(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestParseScopeRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "repository is missing"},
		{"octo", "needs an owner"},
		{"github.com/octo", "a host but no owner"},
		{"https://github.com/octo", "needs an owner"},
		{"octo/..", "a step in a path"},
		{"octo/*", "may only have"},
		{"*/*", "may only have"},
		{"**", "needs an owner"},
		{"g/s/issueS/5", "reads as the address"},
		{"gitlab.com/g/s/issues/5.git", "reads as the address"},
		{strings.Repeat("a/", 1100) + "b", "longer than 2048"},
		{"https://gitlab.com/" + strings.Repeat("a/", 1100) + "b", "longer than 2048"},
		{"octo/hello#", "number is missing"},
		{"https://github.com/octo/hello/wiki", "not an issue"},
		{"https://github.com/octo/hello/issues", "is a list"},
		{"https://gitlab.com/g/p/-/issues", "is a list"},
		{"https://git.unknown.org/o/r/pulls", "is a list"},
	} {
		got, err := slot.ParseScope(c.in, testGrammar())
		if !errors.Is(err, slot.ErrUsage) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "expected owner/repo, ") {
			t.Errorf("ParseScope(%q) = %q, %v; want a usage error with %q", c.in, got, err, c.want)
		}
	}
}
