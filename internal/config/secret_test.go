package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

const hookOf = "[[hook]]\nname = 'a'\nforge = 'github'\n"

func TestC35_SecretWithANewline(t *testing.T) {
	for name, tt := range map[string]struct {
		content, want, warning, problem string
	}{
		"plain":      {"s3cret", "s3cret", "", ""},
		"line feed":  {"s3cret\n", "s3cret", "ends in a line end, which does not count", ""},
		"crlf":       {"s3cret\r\n", "s3cret", "ends in a line end, which does not count", ""},
		"two ends":   {"s3cret\n\n", "s3cret\n", "white space at an end", ""},
		"before it":  {" s3cret", " s3cret", "white space at an end", ""},
		"lone cr":    {"s3cret\r", "s3cret\r", "white space at an end", ""},
		"tab within": {"s3\tcret", "s3\tcret", "control characters", ""},
		"empty":      {"", "", "", "the secret is empty"},
		"a line end": {"\n", "", "", "the secret is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, user, hookOf+"secret.file = 's'")
			w.write(t, "home/.config/oneslot/s", tt.content)
			c := mustLoad(t, w)
			got, warnings, err := c.ReadSecret(c.Hooks[0].Secret)
			checked, checkErr := c.Check()
			if fmt.Sprint(warnings, err) != fmt.Sprint(checked, checkErr) {
				t.Errorf("the check says %q, %v, the reader %q, %v", checked, checkErr, warnings, err)
			}
			said := strings.ReplaceAll(fmt.Sprint(warnings, err), w.root, "")
			if strings.Contains(said, "s3cret") || strings.Contains(said, "s3\tcret") {
				t.Errorf("the secret is shown: %s", said)
			}
			if tt.problem != "" {
				wantLine(t, strings.ReplaceAll(err.Error(), w.root, ""),
					"/"+user+":4:8: file /home/.config/oneslot/s: "+tt.problem)
				if !errors.Is(err, slot.ErrConfig) {
					t.Error("no ErrConfig")
				}
				return
			}
			if err != nil || string(got) != tt.want || !strings.Contains(said, tt.warning) || tt.warning == "" && len(warnings) > 0 {
				t.Errorf("%q, %s", got, said)
			}
		})
	}
}

// An empty secret is none, if that was asked for in so many words.
func TestC35_EmptyAndUnsigned(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, hookOf+"secret.env = 'EMPTY'\nunsigned = true")
	w.vars["EMPTY"] = ""
	if warnings, err := mustLoad(t, w).Check(); err != nil || len(warnings) > 0 {
		t.Error(warnings, err)
	}
	w.vars["EMPTY"] = "full"
	warnings, err := mustLoad(t, w).Check()
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "means nothing beside a secret") {
		t.Error(warnings, err)
	}
	delete(w.vars, "EMPTY")
	if _, err := mustLoad(t, w).Check(); err == nil || !strings.HasSuffix(err.Error(), "environment EMPTY: the variable is not set") {
		t.Error(err)
	}
}

// A secret is read when it is used, so that its file can change, and each that
// cannot be read is named.
func TestSecretsAreReadLate(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "listen = '[::]:1'\n[api]\ntokens = [{name = 'a', role = 'read', file = 'a'}, {name = 'b', role = 'read', file = 'b'}]\n"+
		hookOf+"secret.env = 'HOOK'")
	c := mustLoad(t, w)
	_, err := c.Check()
	var p *Problems
	if !errors.As(err, &p) || len(p.List) != 3 {
		t.Errorf("%v", err)
	}
	w.write(t, "home/.config/oneslot/a", "one")
	first, _, err1 := c.ReadSecret(c.Tokens[0].Secret)
	path := w.write(t, "home/.config/oneslot/a", "two")
	second, _, err2 := c.ReadSecret(c.Tokens[0].Secret)
	if !bytes.Equal(first, []byte("one")) || !bytes.Equal(second, []byte("two")) || err1 != nil || err2 != nil {
		t.Error(first, err1, second, err2)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, warnings, _ := c.ReadSecret(c.Tokens[0].Secret); len(warnings) != 1 || !strings.Contains(warnings[0], "(mode 0640); chmod go-rwx it") {
		t.Error(warnings)
	}
}

// C61: what people are shown tells where a secret is, and not what it is.
func TestNothingShowsASecret(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "[api]\ntokens = [{name = 'a', role = 'read', env = 'T'}]\n"+hookOf+"secret.env = 'T'")
	w.vars["T"], w.vars["ONESLOT_API_TOKEN"] = "canary", "canary"
	c := mustLoad(t, w)
	warnings, err := c.Check()
	if s := fmt.Sprintf("%+v %v %v %v", c.Entries(), warnings, err, c.Hooks); strings.Contains(s, "canary") {
		t.Error(s)
	}
	wantLine(t, c.APIToken(), "canary")
	w.write(t, user, hookOf+"secret = 'canary'\n[[hook]]\nsecret = ['canary']\n[[hook]]\nsecret.file = ['canary']\nsecret.env = 'canary canary'")
	if s := refused(t, w); strings.Contains(s, "canary") {
		t.Error(s)
	}
}
