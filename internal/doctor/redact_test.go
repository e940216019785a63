package doctor_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/doctor"
)

// What is secret goes, in whatever form it stands there; the rest stays.
func TestRedact(t *testing.T) {
	r := doctor.NewRedactor([]byte(" can\"ary\n"), []byte("first line of a key\nsecond line of a key"), []byte("abc"), []byte(`a<"b`), nil)
	for in, want := range map[string]string{
		`x can"ary y`:                        "x [redacted] y",
		`{"a":"can\"ary"}`:                   `{"a":"[redacted]"}`,
		`{"a":"a<\"b"}`:                      `{"a":"[redacted]"}`,
		`{"a":"a\u003c\"b"}`:                 `{"a":"[redacted]"}`,
		"second line of a key!":              "[redacted]!",
		"abc is too short":                   "abc is too short",
		"ghp_0123456789abcdef0123":           "[redacted]",
		"https://bob:pass@git.example.org/x": "https://[redacted]git.example.org/x",
		"ONESLOT_TOKEN=qwertyuiop x":         "ONESLOT_TOKEN=[redacted] x",
		"Authorization: Bearer qwerty":       "Authorization: Bearer [redacted]",
		"https://git.example.org/a@b":        "https://git.example.org/a@b",
		"the token is not known here":        "the token is not known here",
	} {
		if got := string(r.Redact([]byte(in))); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	if all := doctor.SecretVariables([]string{"A_TOKEN=12345678", "PATH=/usr/bin:/bin", "DEPLOY_KEY=12345678", "TOKENS=1"}); len(all) != 2 {
		t.Errorf("%q", all)
	}
}

// What was valid JSON stays so.
func FuzzRedactedJSON(f *testing.F) {
	f.Add("canary", `a canary "sings" https://u:p@h/ TOKEN=x\`)
	f.Add(`"\`, "\x00 Authorization: Basic abc\"")
	f.Fuzz(func(t *testing.T, secret, text string) {
		if strings.ContainsAny(secret, `":,{}[]\`) || len(secret) < 5 {
			return // a secret that JSON itself is made of
		}
		in, err := json.Marshal(map[string]string{"text": text})
		if err != nil || secret == `"text` {
			return
		}
		if out := doctor.NewRedactor([]byte(secret)).Redact(in); !json.Valid(out) && !strings.Contains(`{"text":"`, secret) {
			t.Errorf("%q -> %q", in, out)
		}
	})
}

func TestWriteBundle(t *testing.T) {
	var file bytes.Buffer
	err := doctor.WriteBundle(&file, doctor.NewRedactor([]byte("canary")), time.Unix(1e9, 0), []doctor.File{{Name: "a/b", Data: []byte("a canary")}})
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(zip)
	h, err := tr.Next()
	if err != nil || h.Name != "oneslot-bundle/a/b" || h.Mode != 0o600 {
		t.Errorf("%+v %v", h, err)
	}
	if data, _ := io.ReadAll(tr); string(data) != "a [redacted]" {
		t.Errorf("%q", data)
	}
}
