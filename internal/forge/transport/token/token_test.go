package token_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/forge/transport/token"
)

const canary = "canary-90ce"

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func want(t *testing.T, src transport.TokenSource, token string) {
	t.Helper()
	if got, err := src.Token(t.Context()); err != nil || got != token {
		t.Fatalf("%q, %v, wanted %q", got, err, token)
	}
}

// fails asks for a token that cannot be had. C61: the error repeats none.
func fails(t *testing.T, src transport.TokenSource, says string) {
	t.Helper()
	got, err := src.Token(t.Context())
	if err == nil || got != "" || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary) {
		t.Fatalf("%q, %v, wanted %q", got, err, says)
	}
}

// helpers puts programs of that name into the only folder of PATH.
func helpers(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+script, 0o700)
	}
	t.Setenv("PATH", dir)
	return dir
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// git answers only for the host, and only when it may not ask anybody.
const gitScript = `[ "$1 $2" = "credential fill" ] && [ "$GIT_TERMINAL_PROMPT" = 0 ] && [ -z "$GIT_ASKPASS" ] || exit 3
read protocol; read host
[ "$protocol $host" = "protocol=https host=forge.example:8443" ] || exit 4
echo "$protocol"; echo "$host"; echo username=bob; echo password=of-git`

func TestHelper(t *testing.T) {
	const host = "forge.example:8443"
	c := clock.NewManual(noon)
	t.Run("gh", func(t *testing.T) {
		helpers(t, map[string]string{"gh": `[ "$*" = "auth token --hostname=` + host + `" ] && echo of-gh`, "git": gitScript})
		want(t, token.Helper(host, c), "of-gh")
	})
	t.Run("gh does not know it", func(t *testing.T) {
		helpers(t, map[string]string{"gh": "exit 1", "git": gitScript})
		want(t, token.Helper(host, c), "of-git")
	})
	t.Run("no gh", func(t *testing.T) {
		helpers(t, map[string]string{"git": gitScript})
		want(t, token.Helper(host, c), "of-git")
	})
	t.Run("neither", func(t *testing.T) {
		helpers(t, nil)
		fails(t, token.Helper(host, c), "git is not installed")
	})
	t.Run("what they write is in no error", func(t *testing.T) {
		helpers(t, map[string]string{"gh": "echo " + canary + "; echo " + canary + " >&2; exit 1", "git": "echo password=" + canary + "; exit 1"})
		fails(t, token.Helper(host, c), "git credential fill failed")
	})
	t.Run("no password", func(t *testing.T) {
		helpers(t, map[string]string{"git": "echo username=" + canary})
		fails(t, token.Helper(host, c), "neither")
	})
	t.Run("no host", func(t *testing.T) {
		fails(t, token.Helper("a\nhost=evil.example", c), "no host")
	})
}

// A helper is asked once, and again after a rejection: by one caller, for all.
func TestHelper_AskedOnce(t *testing.T) {
	dir := helpers(t, map[string]string{"gh": `echo x >> "$COUNT"; n=0; while read l; do n=$((n+1)); done < "$COUNT"; echo "token-$n"`})
	t.Setenv("COUNT", filepath.Join(dir, "count"))
	src := token.Helper("forge.example", clock.NewManual(noon))
	want(t, src, "token-1")
	want(t, src, "token-1")
	for range 2 { // the second to say so gets what the first one got
		if got, err := src.Renew(t.Context(), "token-1"); err != nil || got != "token-2" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

func TestHelper_EndsWithItsCaller(t *testing.T) {
	helpers(t, map[string]string{"gh": "exec /bin/sleep 60"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := token.Helper("forge.example", clock.NewManual(noon)).Token(ctx); err == nil {
		t.Errorf("%q", got)
	}
}
