package two

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
	"time"
)

// failedCheck is a real delivery: GitHub's report that a check on a pull request of
// this repository has failed.
const failedCheck = "../../internal/intake/hook/testdata/github/26-check_run.completed.json"

// dashed is the repository of failedCheck in names of units and containers.
const dashed = "codertocat-hello-world-"

const secret = "It's a Secret to Everybody"

// failure is failedCheck for another head of another pull request; it returns the
// new head, too.
func failure(t testing.TB, number string) (body []byte, sha string) {
	t.Helper()
	data, err := os.ReadFile(failedCheck)
	if err != nil {
		t.Fatal(err)
	}
	var head [20]byte
	rand.Read(head[:])
	sha = hex.EncodeToString(head[:])
	var d struct {
		Check struct {
			Sha   string `json:"head_sha"`
			Pulls []struct {
				Number json.Number
			} `json:"pull_requests"`
			Completed string `json:"completed_at"`
		} `json:"check_run"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	was := d.Check.Pulls[0].Number.String()
	for old, now := range map[string]string{
		d.Check.Sha:                      sha,
		`"number": ` + was + ",":         `"number": ` + number + ",",
		"Hello-World/pulls/" + was + `"`: "Hello-World/pulls/" + number + `"`,
		d.Check.Completed:                time.Now().UTC().Format(time.RFC3339),
	} {
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("%s has no %q any more", failedCheck, old)
		}
		data = bytes.ReplaceAll(data, []byte(old), []byte(now))
	}
	return data, sha
}

// deliver sends a signed delivery of a failure, as GitHub does, and returns its head.
func (w *world) deliver(number string) (sha string) {
	w.t.Helper()
	body, sha := failure(w.t, number)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url+"/hooks/hello", bytes.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return sha
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": "check_run", "X-GitHub-Delivery": rand.Text(),
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		req.Header.Set(name, value)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Error(err)
		return sha
	}
	w.mu.Lock()
	w.sent[sha] = boot()
	w.mu.Unlock()
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		text, _ := io.ReadAll(resp.Body)
		w.t.Errorf("the delivery for #%s: %s: %s", number, resp.Status, text)
	}
	return sha
}
