package docs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serve starts a daemon with a home of its own, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	address := freeAddress(t)
	cmd := exec.Command(program, "serve", "--listen", address)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("the daemon: %v", err)
		}
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get("http://" + address + "/readyz"); err == nil {
			resp.Body.Close()
			return "http://" + address
		}
	}
	t.Fatal("no daemon after 20s")
	return ""
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(url, resp.Status, err)
	}
	return body
}

// The reference has each route and each metric of the daemon, and no others.
func TestReferenceNamesRoutesAndMetrics(t *testing.T) {
	url, page := serve(t), read(t, "docs/reference.md")
	var document struct {
		Paths map[string]map[string]struct {
			Summary string
			Role    string `json:"x-role"`
		}
	}
	if err := json.Unmarshal(get(t, url+"/api/v1/openapi.json"), &document); err != nil {
		t.Fatal(err)
	}
	served := 0
	for path, methods := range document.Paths {
		for method, route := range methods {
			served++
			row := fmt.Sprintf("| `%s %s` | %s | %s |\n", strings.ToUpper(method), path, route.Role, route.Summary)
			if !strings.Contains(page, row) {
				t.Errorf("the reference lacks\n%s", row)
			}
		}
	}
	if written := len(regexp.MustCompile("(?m)^\\| `[A-Z]+ /[^`]*` \\|").FindAllString(page, -1)); written != served || served < 30 {
		t.Errorf("%d routes are served, the reference has %d", served, written)
	}
	metrics := string(get(t, url+"/metrics"))
	_, section, _ := strings.Cut(page, "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(oneslot_[a-z_]+)`").FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^(oneslot_[a-z_]+?)(?:_bucket|_sum|_count)?[{ ]`).FindAllStringSubmatch(metrics, -1) {
		if !named[m[1]] {
			t.Errorf("the reference does not name the metric %s", m[1])
		}
	}
	for name := range named {
		// A counter with labels is there only once something was counted.
		if !strings.Contains(metrics, name) && !strings.HasSuffix(name, "_total") {
			t.Errorf("the reference names %s, which is not served:\n%s", name, metrics)
		}
	}
}
