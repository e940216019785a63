package slot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func withOrigin(address string) slot.Grammar {
	g := testGrammar()
	g.Origin = func() (string, error) { return address, nil }
	return g
}

func TestNumberAloneMeansOrigin(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"https://github.com/Octo/Hello", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello.git", "github.com/octo/hello#12"},
		{"https://github.com/octo/hello.git/\n", "github.com/octo/hello#12"},
		{"http://www.github.com:80/octo/hello", "github.com/octo/hello#12"},
		{"https://me:canary@github.com/octo/hello.git", "github.com/octo/hello#12"},
		{"https://canary@gitlab.com/g/s/p.git", "gitlab.com/g/s/p#12"},
		{"https://git.example.com:3000/o/r.git", "git.example.com:3000/o/r#12"},
		{"https://gitlab.com/%67/p", "gitlab.com/g/p#12"},
		{"git@github.com:octo/hello.git", "github.com/octo/hello#12"},
		{"git@GitHub.com:/octo/hello/", "github.com/octo/hello#12"},
		{"github.com:octo/hello", "github.com/octo/hello#12"},
		{"org-12@github.com:octo/hello.git", "github.com/octo/hello#12"},
		{"git@gitlab.com:g/s/t/p.git", "gitlab.com/g/s/t/p#12"},
		{"git@forge:g/p.git", "forge/g/p#12"},
		{"ssh://git@github.com/octo/hello.git", "github.com/octo/hello#12"},
		{"ssh://git@github.com:22/octo/hello.git", "github.com/octo/hello#12"},
		{"ssh://git@ssh.github.com:443/octo/hello.git", "github.com/octo/hello#12"},
		{"ssh://git@altssh.gitlab.com:443/g/p.git", "gitlab.com/g/p#12"},
		{"git+ssh://git@github.com/octo/hello", "github.com/octo/hello#12"},
		{"git://github.com/octo/hello.git", "github.com/octo/hello#12"},
		{"ssh://git@git.example.com:2222/o/r.git", "git.example.com/o/r#12"},
		// The port of ssh is not that of the web; the only configured one is.
		{"ssh://git@gogs.example.com:2222/o/r.git", "gogs.example.com:3000/o/r#12"},
		{"git@gogs.example.com:o/r.git", "gogs.example.com:3000/o/r#12"},
		{"git@git.unknown.org:o/r.git", "git.unknown.org/o/r#12"},
	} {
		r, err := slot.ParseRef("#12", withOrigin(c.address))
		if err != nil || r.String() != c.want {
			t.Errorf("origin %q: %q, %v; want %q", c.address, r, err, c.want)
		}
	}
	if r, err := slot.ParseRef("!5", withOrigin("git@gitlab.com:g/p.git")); err != nil || r.String() != "gitlab.com/g/p!5" {
		t.Errorf("!5 = %q, %v", r, err)
	}
	if s, err := slot.ParseScope("#5", withOrigin("git@github.com:o/r")); err != nil || s != "github.com/o/r#5" {
		t.Errorf("scope #5 = %q, %v", s, err)
	}
}

func TestOriginThatNamesNoRepository(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"", "a path on this machine"},
		{"/srv/git/hello.git", "a path on this machine"},
		{"../hello", "a path on this machine"},
		{"./a:b", "a path on this machine"},
		{`C:\git\hello`, "a path on this machine"},
		{"file:///srv/git/hello.git", "not one of https, ssh or git"},
		{"s3://bucket/o/r", "not one of https, ssh or git"},
		{"https://github.com/hello", "needs an owner"},
		{"https://github.com/a/b/c", "is not owner/repo"},
		{"https://github.com/o/.git", "no name before .git"},
		{"git@github.com:~me/hello", "may only have"},
		{"git@work:octo/hello.git", "an alias from ssh"},
		{"git@github.com-work:octo/hello.git", "an alias from ssh"},
		{"http://localhost/o/r", "not a configured host"},
		{"https://me:can/ary@github.com/o/r", "cannot be read"},
		{"https://me:1/canary@github.com/o/r", "may only have"},
		{"https://a.b:1/canary@github.com/o/r", "may only have"},
		{"me:canary@github.com:o/r", "an alias from ssh"},
		{"ssh://git@[::1]:22/o/r", "IPv6"},
	} {
		_, err := slot.ParseRef("#12", withOrigin(c.address))
		if !errors.Is(err, slot.ErrUsage) || !strings.Contains(err.Error(), "origin remote") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("origin %q: %v; want %q", c.address, err, c.want)
		} else if strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "can/ary") {
			t.Errorf("origin %q: the error repeats a password: %v", c.address, err)
		}
	}
}

func TestOriginWithTwoPortsIsAmbiguous(t *testing.T) {
	g := withOrigin("git@two.example.com:o/r")
	g.Hosts = map[string]string{"two.example.com:3000": "gitea", "two.example.com:4000": "gitea"}
	if r, err := slot.ParseRef("#12", g); err == nil || !strings.Contains(err.Error(), "more than one port") {
		t.Errorf("#12 = %q, %v", r, err)
	}
	g.Hosts["two.example.com"] = "gitea"
	if r, err := slot.ParseRef("#12", g); err != nil || r.Host() != "two.example.com" {
		t.Errorf("#12 = %q, %v", r, err)
	}
}

// P8: an origin that could not be asked is no usage error.
func TestP8_OriginUnknown(t *testing.T) {
	g := slot.Grammar{Origin: func() (string, error) { return "", errors.New("no git") }}
	if _, err := slot.ParseRef("#12", g); !errors.Is(err, slot.ErrUsage) || !strings.Contains(err.Error(), "no git") {
		t.Errorf("err = %v", err)
	}
	g.Origin = func() (string, error) {
		return "", &slot.UnknownError{Store: "git", Op: "ask", Err: errors.New("late")}
	}
	if _, err := slot.ParseRef("#12", g); errors.Is(err, slot.ErrUsage) || !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("err = %v, want ErrUnknown alone", err)
	}
}

// C61: what is wrong with an address is said without its password.
func TestC61_RefErrorsHideCredentials(t *testing.T) {
	for _, in := range []string{
		"https://me:canary@github.com/octo/hello/wiki/7",
		"https://canary@github.com/octo/hello/issues/x",
		"https://me:canary@/o/r/issues/1",
		"https://me:1/canary@github.com/octo/hello/issues/1",
		"https://a.b:1/canary@github.com/octo/hello/issues/1",
		"https://me:can#canary@github.com/octo/hello/issues/1",
		"https://me:can?canary@github.com/octo/hello/issues/1",
		"https://me:%zzcanary@github.com/octo/hello/issues/1",
		"ssh://me:canary@github.com/octo/hello",
		"me:canary@github.com/octo/hello/issues/1",
		"me:canary@github.com:octo/hello",
		"https://github.com/octo/hello/issues/?token=canary",
	} {
		for _, parse := range []func() error{
			func() error { _, err := slot.ParseRef(in, testGrammar()); return err },
			func() error { _, err := slot.ParseScope(in, testGrammar()); return err },
			func() error { _, err := slot.ParseCanonical(in); return err },
		} {
			if err := parse(); err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("%q: %v", in, err)
			}
		}
	}
}
