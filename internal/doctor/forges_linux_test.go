package doctor_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/doctor"
)

// What is said of forges, and of the secrets that are for them.
func TestForges(t *testing.T) {
	const forge = "[[forge]]\nhost = 'github.com'\ntype = 'github'\n"
	for name, tt := range map[string]struct{ config, line string }{
		"none":          {"", "ok forges: none; gates that read from a forge are not asked"},
		"read":          {forge + "token.helper = true", "ok forges: github.com at https://api.github.com, token: credential helper, not polled"},
		"polled":        {forge + "repos = ['a/*']\npoll = '90s'\ntoken.helper = true", "token: credential helper, polled every 1m30s"},
		"without token": {forge + "repos = ['a/*']\npoll = '90s'", "warn configuration: /oneslot.toml:5:1: forge.poll: github.com has no token"},
		"open token":    {forge + "token.file = 'open'", "warn configuration: /oneslot.toml:4:7: file /open can be read or written by others (mode 0644)"},
		"unset":         {forge + "token.env = 'NOBODY_SETS_THIS'", "warn secrets: /oneslot.toml:4:7: environment NOBODY_SETS_THIS: the variable is not set"},
		"no key":        {forge + "token = {app_id = 1, key = 'open'}", "FAIL secrets: /oneslot.toml:4:22: file /open: not a private key as PEM"},
		"weak":          {"[reservation]\nkey.file = 'open'", "FAIL secrets: /oneslot.toml:2:5: file /open: a key has at least 16 bytes"},
		"own store":     {forge + "token.helper = true\n[reservation]\nenabled = true\nkey.file = 'key'", "ok secrets: 1, all can be read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write(filepath.Join(b.TempDir, "open"), "t0ken", 0o644)
			b.write(filepath.Join(b.TempDir, "key"), "0123456789abcdef", 0o600)
			b.configure(tt.config)
			var all strings.Builder
			for _, l := range doctor.Examine(context.Background(), &b.Subject) {
				all.WriteString(string(l.Status) + " " + l.Check + ": " + strings.ReplaceAll(l.What, b.TempDir, "") + "\n")
			}
			if !strings.Contains(all.String(), tt.line) {
				t.Errorf("no line %q in\n%s", tt.line, all.String())
			}
		})
	}
}

// C61: a bundle has no forge's secret in it.
func TestForgeSecretsAreRedacted(t *testing.T) {
	b := newBench(t)
	b.env["T"], b.env["K"] = "canary-of-a-forge", "canary-of-the-reservation"
	b.configure("[[forge]]\nhost = 'github.com'\ntype = 'github'\ntoken.env = 'T'\n[reservation]\nkey.env = 'K'")
	r := doctor.NewRedactor(doctor.Secrets(b.Config)...)
	if got := string(r.Redact([]byte("a canary-of-a-forge b canary-of-the-reservation"))); strings.Contains(got, "canary") {
		t.Error(got)
	}
}
