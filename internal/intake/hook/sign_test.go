package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

func mac(secret, body string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(body))
	return hex.EncodeToString(h.Sum(nil))
}

func signed(h Hook, header http.Header, body []byte) bool {
	s, err := newSeal(h, header)
	if err != nil {
		return false
	}
	for i := range body { // as it may come
		_, _ = s.Write(body[i : i+1])
	}
	return s.right()
}

// C37: the recorded deliveries, with their headers and signatures as they came.
func TestC37_RecordedSignatures(t *testing.T) {
	n := 0
	for _, r := range rows(t) {
		if !strings.HasPrefix(r.file, "gitea-recorded/") {
			continue
		}
		n++
		body, header := read(t, r.file), r.header(t)
		for _, forge := range []string{Gitea, Gogs, GitHub, Forgejo} { // each rule holds for what it looks at
			h := testHook(forge)
			if !signed(h, header, body) {
				t.Errorf("%s: not right by the rule of %s", r.file, forge)
			}
			h.Secret = []byte("test-secret2")
			if signed(h, header, body) {
				t.Errorf("%s: right with another secret", r.file)
			}
		}
		if signed(testHook(Gitea), header, append(body, '\n')) {
			t.Errorf("%s: right with one more byte", r.file)
		}
	}
	if n != 55 {
		t.Errorf("%d recorded deliveries", n)
	}
}

// C37: which signature, which forge.
func TestC37_Signatures(t *testing.T) {
	const secret, body = "test-secret", "{}"
	right := mac(secret, body)
	wrong := mac("other", body)
	for _, c := range []struct {
		name, forge string
		header      http.Header
		want        bool
	}{
		{"right", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + right}}, true},
		{"none", GitHub, http.Header{}, false},
		{"sha1 only", GitHub, http.Header{"X-Hub-Signature": {"sha1=5c5d1e0a1d6a4b9a1a0b7e0c6f0d7d9c0e6f0a11"}}, false},
		{"wrong sha1 beside", GitHub, http.Header{"X-Hub-Signature": {"sha1=00"}, "X-Hub-Signature-256": {"sha256=" + right}}, true},
		{"empty", GitHub, http.Header{"X-Hub-Signature-256": {""}}, false},
		{"nothing behind sha256=", GitHub, http.Header{"X-Hub-Signature-256": {"sha256="}}, false},
		{"no sha256=", GitHub, http.Header{"X-Hub-Signature-256": {right}}, false},
		{"SHA256=", GitHub, http.Header{"X-Hub-Signature-256": {"SHA256=" + right}}, false},
		{"upper-case hex", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + strings.ToUpper(right)}}, false},
		{"two by a comma", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + right + ",sha256=" + wrong}}, false},
		{"space", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + right + " "}}, false},
		{"the same twice", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + right, "sha256=" + right}}, false},
		{"wrong and right", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + wrong, "sha256=" + right}}, false},
		{"cut", GitHub, http.Header{"X-Hub-Signature-256": {"sha256=" + right[:62]}}, false},
		{"another forge's", GitHub, http.Header{"X-Gitea-Signature": {right}}, false},

		{"right", Gitea, http.Header{"X-Gitea-Signature": {right}}, true},
		{"the copy of GitHub's", Gitea, http.Header{"X-Hub-Signature-256": {"sha256=" + right}}, true},
		{"both", Gitea, http.Header{"X-Gitea-Signature": {right}, "X-Hub-Signature-256": {"sha256=" + right}}, true},
		{"one wrong", Gitea, http.Header{"X-Gitea-Signature": {right}, "X-Hub-Signature-256": {"sha256=" + wrong}}, false},
		{"other wrong", Gitea, http.Header{"X-Gitea-Signature": {wrong}, "X-Hub-Signature-256": {"sha256=" + right}}, false},
		{"one empty", Gitea, http.Header{"X-Gitea-Signature": {""}, "X-Hub-Signature-256": {"sha256=" + right}}, false},
		{"upper-case hex", Gitea, http.Header{"X-Gitea-Signature": {strings.ToUpper(right)}}, false},
		{"Gogs' alone", Gitea, http.Header{"X-Gogs-Signature": {right}}, false},

		{"right", Forgejo, http.Header{"X-Forgejo-Signature": {right}}, true},
		{"all", Forgejo, http.Header{"X-Forgejo-Signature": {right}, "X-Gitea-Signature": {right}}, true},
		{"own wrong", Forgejo, http.Header{"X-Forgejo-Signature": {wrong}, "X-Gitea-Signature": {right}}, false},
		{"right", Gogs, http.Header{"X-Gogs-Signature": {right}}, true},
		{"wrong", Gogs, http.Header{"X-Gogs-Signature": {wrong}}, false},

		{"right", GitLab, http.Header{"X-Gitlab-Token": {secret}}, true},
		{"wrong last character", GitLab, http.Header{"X-Gitlab-Token": {"test-secreT"}}, false},
		{"longer", GitLab, http.Header{"X-Gitlab-Token": {secret + "x"}}, false},
		{"empty", GitLab, http.Header{"X-Gitlab-Token": {""}}, false},
		{"none", GitLab, http.Header{}, false},
		{"twice", GitLab, http.Header{"X-Gitlab-Token": {secret, secret}}, false},
		{"an HMAC", GitLab, http.Header{"X-Hub-Signature-256": {"sha256=" + right}}, false},
		{"right", "sourcehut", http.Header{"X-Hub-Signature-256": {"sha256=" + right}}, false},
	} {
		h := Hook{Forge: c.forge, Secret: []byte(secret)}
		if got := signed(h, c.header, []byte(body)); got != c.want {
			t.Errorf("%s, %s: %v", c.forge, c.name, got)
		}
		h.Unsigned = true // a secret counts all the same
		if got := signed(h, c.header, []byte(body)); got != c.want {
			t.Errorf("%s, %s: %v if unsigned is allowed", c.forge, c.name, got)
		}
	}
}

// C35: without a secret nothing is taken, unless that was asked for.
func TestC35_NoSecret(t *testing.T) {
	empty := mac("", "{}")
	for _, forge := range []string{GitHub, Forgejo, Gitea, Gogs, GitLab} {
		header := http.Header{
			"X-Hub-Signature-256": {"sha256=" + empty}, "X-Gitea-Signature": {empty}, "X-Gogs-Signature": {empty}, "X-Gitlab-Token": {""},
		}
		if signed(Hook{Forge: forge}, header, []byte("{}")) {
			t.Errorf("%s: an empty secret signs", forge)
		}
		if !signed(Hook{Forge: forge, Unsigned: true}, http.Header{}, []byte("{}")) {
			t.Errorf("%s: unsigned is refused", forge)
		}
	}
}

// GitLab's signing token goes by the Standard Webhooks.
func TestGitLabSigningToken(t *testing.T) {
	const id, at, body = "f5e5f430", "1795953479", `{"object_kind":"note"}`
	key := "0123456789abcdef0123456789abcdef"
	h := Hook{Forge: GitLab, Secret: []byte("whsec_" + base64.StdEncoding.EncodeToString([]byte(key)))}
	raw, _ := hex.DecodeString(mac(key, id+"."+at+"."+body))
	right := "v1," + base64.StdEncoding.EncodeToString(raw)
	good := func() http.Header {
		return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {right}}
	}
	if !signed(h, good(), []byte(body)) {
		t.Fatal("the right one is refused")
	}
	for name, values := range map[string][]string{
		"Webhook-Id":        {"other"},
		"Webhook-Timestamp": {"1"},
		"Webhook-Signature": {right, right},
	} {
		header := good()
		header[name] = values
		if signed(h, header, []byte(body)) {
			t.Errorf("%s: %q is accepted", name, values)
		}
	}
	for _, s := range []string{"", "v1,", "v2" + right[2:], right[3:], right + " " + right, right + "," + right} {
		header := good()
		header.Set("Webhook-Signature", s)
		if signed(h, header, []byte(body)) {
			t.Errorf("%q is accepted", s)
		}
	}
	if signed(h, http.Header{"X-Gitlab-Token": {string(h.Secret)}}, []byte(body)) {
		t.Error("the plain token is accepted instead")
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("sha256="+mac("test-secret", "{}"), "{}")
	f.Add("sha256=", "")
	f.Add("v1,", "{}")
	f.Fuzz(func(t *testing.T, text, body string) {
		want := "sha256=" + mac("test-secret", body)
		header := http.Header{"X-Hub-Signature-256": {text}}
		if got := signed(testHook(GitHub), header, []byte(body)); got != (text == want) {
			t.Fatalf("%q for %q: %v", text, body, got)
		}
		header = http.Header{"X-Gitea-Signature": {text}, "X-Gitlab-Token": {text}}
		if got := signed(testHook(Gitea), header, []byte(body)); got != ("sha256="+text == want) {
			t.Fatalf("Gitea: %q for %q: %v", text, body, got)
		}
		if got := signed(testHook(GitLab), header, []byte(body)); got != (text == "test-secret") {
			t.Fatalf("GitLab: %q: %v", text, got)
		}
		h := testHook(GitLab)
		h.Secret = []byte("whsec_" + text)
		signed(h, http.Header{"Webhook-Id": {text}, "Webhook-Timestamp": {text}, "Webhook-Signature": {text}}, []byte(body))
	})
}
