package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

const pemKey = "-----BEGIN RSA PRIVATE KEY-----\nY2FuYXJ5\n-----END RSA PRIVATE KEY-----\n"

// forgeOf is the beginning of a forge's table.
const forgeOf = "[[forge]]\nhost = 'github.com'\ntype = 'github'\n"

// Each form of a token is read by its own rules, and errors say what is wrong.
func TestForgeSecret(t *testing.T) {
	for name, tt := range map[string]struct {
		token, file string
		form        TokenForm
		says        string // ForgeToken's String
		want, bad   string
	}{
		"none":             {"", "", TokenNone, "none", "", ""},
		"not a helper":     {"token.helper = false", "", TokenNone, "none", "", ""},
		"variable":         {"token.env = 'T'", "", TokenSecret, "environment T", "t0ken", ""},
		"no such variable": {"token.env = 'NONE'", "", TokenSecret, "environment NONE", "", "environment NONE: the variable is not set"},
		"file":             {"token.file = 's'", "t0ken\n", TokenSecret, "file /home/.config/oneslot/s", "t0ken", ""},
		"two lines":        {"token.file = 's'", "t0ken\nt1ken\n", TokenSecret, "file /home/.config/oneslot/s", "", "file /home/.config/oneslot/s: white space, or a character that no token has"},
		"empty":            {"token.file = 's'", "\n", TokenSecret, "file /home/.config/oneslot/s", "", "file /home/.config/oneslot/s: the secret is empty"},
		"app":              {"token = {app_id = 7, key = 's'}", pemKey, TokenApp, "GitHub App 7", pemKey, ""},
		"no key":           {"token = {app_id = 7, key = 's'}", "t0ken", TokenApp, "GitHub App 7", "", "file /home/.config/oneslot/s: not a private key as PEM"},
		"a certificate":    {"token = {app_id = 7, key = 's'}", strings.ReplaceAll(pemKey, "RSA PRIVATE KEY", "CERTIFICATE"), TokenApp, "GitHub App 7", "", "file /home/.config/oneslot/s: not a private key as PEM"},
		"key is gone":      {"token = {app_id = 7, key = 'x'}", "", TokenApp, "GitHub App 7", "", "file /home/.config/oneslot/x: cannot be read: no such file or directory"},
		"helper":           {"token.helper = true", "", TokenHelper, "credential helper", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, user, forgeOf+tt.token)
			w.write(t, "home/.config/oneslot/s", tt.file)
			w.vars["T"] = "t0ken"
			c := mustLoad(t, w)
			f, ok := c.ForgeOf("github.com")
			if !ok || f.Token.Form() != tt.form {
				t.Fatalf("%v %q", ok, f.Token.Form())
			}
			wantLine(t, strings.ReplaceAll(f.Token.String(), w.root, ""), tt.says)
			got, _, err := c.ForgeSecret(f)
			if string(got) != tt.want || (err == nil) != (tt.bad == "") {
				t.Errorf("%q, %v", got, err)
			}
			_, checked := c.Check()
			if fmt.Sprint(checked) != fmt.Sprint(err) {
				t.Errorf("the check says %v, the reader %v", checked, err)
			}
			if err == nil {
				return
			}
			if said := strings.ReplaceAll(err.Error(), w.root, ""); !strings.HasSuffix(said, tt.bad) || !errors.Is(err, slot.ErrConfig) {
				t.Errorf("%s", said)
			}
		})
	}
}

// A token or a key that others can read is told, and so is its change to a daemon.
func TestForgeSecretFiles(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, forgeOf+"token = {app_id = 7, key = 'app.pem'}\n[[forge]]\nhost = 'a.example.org'\ntype = 'gitea'\ntoken.file = 'a'\n"+
		"[reservation]\nkey.file = 'k'")
	for name, content := range map[string]string{"app.pem": pemKey, "a": "t", "k": "0123456789abcdef"} {
		if err := os.Chmod(w.write(t, "home/.config/oneslot/"+name, content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := mustLoad(t, w)
	warnings, err := c.Check()
	if err != nil || len(warnings) != 3 {
		t.Fatal(warnings, err)
	}
	for _, one := range warnings {
		if !strings.Contains(one, "can be read or written by others (mode 0644); chmod go-rwx it") {
			t.Error(one)
		}
	}
	if files := NewLive(w.Sources, c, nil).look(); len(files) != 4+1 { // those, the file, the system's
		t.Error(files)
	}
}

// C61: nothing that people are shown has a forge's secrets in it.
func TestNothingShowsAForgesSecret(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, forgeOf+"token.env = 'T'\nrepos = ['a/*']\npoll = '1m'\n[[forge]]\nhost = 'ghe.example.org'\ntype = 'github'\n"+
		"token = {app_id = 1, key = 'k'}\n[reservation]\nenabled = true\nkey.env = 'T'")
	w.write(t, "home/.config/oneslot/k", "canary")
	w.vars["T"] = "canary canary"
	c := mustLoad(t, w)
	warnings, err := c.Check()
	if s := fmt.Sprintf("%+v %v %v %v", c.Entries(), warnings, err, c.Forges); strings.Contains(s, "canary") {
		t.Error(s)
	}
	w.write(t, user, forgeOf+"token = 'canary'\napi = 'https://canary@github.com'\n[reservation]\nkey = 'canary'\n[forge.tokn]\nx = 'canary'")
	if s := refused(t, w); strings.Contains(s, "canary") {
		t.Error(s)
	}
}

func TestForgeOf(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "forge = [{host = 'A.example.org:443', type = 'gitea'}, {host = 'b.example.org:3000', type = 'gitlab'}]")
	c := mustLoad(t, w)
	for host, want := range map[string]string{"a.example.org": "https://a.example.org", "b.example.org:3000": "https://b.example.org:3000", "b.example.org": "", "": ""} {
		if f, ok := c.ForgeOf(host); f.API.V != want || ok != (want != "") {
			t.Error(host, f, ok)
		}
	}
}

// What is asked of forges in vain is odd, and what is in order is not.
func TestForgeOddities(t *testing.T) {
	const tokened = "[[forge]]\nhost = 'a.example.org'\ntype = 'gitea'\ntoken.helper = true\nrepos = ['a/b']\n"
	for name, tt := range map[string]struct{ file, want string }{
		"in order":           {tokened + "poll = '5s'\n[[rule]]\nname = 'r'\nrun = ['r']\nevery = '1m'\nlink = true\n[[gate]]\ntype = 'comment'\n[reservation]\nticket = 'label'\n[trust]\nown = ['bob']", ""},
		"wakes itself":       {tokened + "poll = '5s'\n[reservation]\nticket = 'label'", "reservation: trust.own names nobody"},
		"not listed either":  {tokened + "[[rule]]\nname = 'r'\nrun = ['r']\nevery = '1m'", "rule.every: no [[forge]] names repos and is polled"},
		"only read":          {forgeOf + "repos = ['a/b']", ""},
		"poll without token": {forgeOf + "repos = ['a/b']\npoll = '5s'", "forge.poll: github.com has no token"},
		"nobody to write":    {forgeOf + "[reservation]\nticket = 'comment'", "reservation: github.com has no token"},
		"nothing to write":   {"[reservation]\nticket = 'label'", "reservation: there is no [[forge]]"},
		"nothing listed":     {forgeOf + "[[rule]]\nname = 'r'\nrun = ['r']\nevery = '1m'", "rule.every: no [[forge]] names repos"},
		"no links":           {"[[rule]]\nname = 'r'\non = ['opened']\nrun = ['r']\nlink = true", "rule.link: there is no [[forge]]"},
		"nobody to ask":      {"[[gate]]\ntype = 'assignee'", "gate.type: there is no [[forge]] for assignee"},
		"and it is not":      {"[[gate]]\ntype = 'assignee'\nenabled = false", ""},
	} {
		w := newWorld(t)
		w.write(t, user, tt.file)
		w.vars["K"] = "0123456789abcdef"
		warnings, err := mustLoad(t, w).Check()
		if err != nil || len(warnings) > 1 || (len(warnings) == 1) != (tt.want != "") || !strings.Contains(strings.Join(warnings, ""), tt.want) {
			t.Errorf("%s: %q, %v", name, warnings, err)
		}
	}
}
