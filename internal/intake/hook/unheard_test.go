package hook

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A bad signature is told to whoever reads the log, once in a while and for each hook,
// with nothing that its sender wrote.
func TestBadSignaturesAreTold(t *testing.T) {
	other := testHook(GitLab)
	other.Name = "other"
	b := newRig(t, testHook(GitHub), other)
	h := b.Handler.(*handler)
	var log bytes.Buffer
	now := time.Unix(1e9, 0)
	h.Log, h.Now = slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now }
	send := func(hook, signature string) {
		t.Helper()
		r := request("canary", []byte(`{"canary":1}`))
		r.URL.Path = Prefix + hook
		r.Header.Set("X-Hub-Signature-256", signature)
		if signature == "" {
			r.Header.Del("X-Hub-Signature-256")
		}
		if w := b.do(r); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "missing or wrong") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	told := func(want ...string) {
		t.Helper()
		text := log.String()
		log.Reset()
		lines := strings.Count(text, "\n")
		if len(want) == 0 && lines != 0 || len(want) > 0 && lines != 1 || strings.Contains(text, "canary") {
			t.Errorf("%d lines: %s", lines, text)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in %s", w, text)
			}
		}
	}
	wrong := "sha256=" + mac("guess", "")
	send("test", wrong)
	told("level=WARN", "signature is wrong", "hook=test", "since_last_told=1", "compare the secret")
	send("test", "sha256=canary")
	send("test", wrong)
	now = now.Add(tellEvery - time.Second)
	send("test", wrong)
	told()
	send("other", "")
	told("signature is missing", "hook=other", "since_last_told=1", "the secret of this hook")
	now = now.Add(time.Second)
	send("test", "")
	told("signature is missing", "hook=test", "since_last_told=4")
}
