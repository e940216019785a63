package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/test/rig"
)

// What docs/docker.md says of a container's restart: its workers end with it, nothing
// is lost, the work starts again when the old claim is over, and never beside the old
// worker. The image is made of the program and busybox, as no registry is asked here.
func TestContainerRestart(t *testing.T) {
	engine := rig.StartDocker(t)
	dir := t.TempDir()
	config := `store  = "/state/oneslot.db"
[[rule]]
name    = "fix"
on      = ["manual"]
run     = ["/etc/oneslot/worker.sh"]
ttl     = "6s"
grace   = "1s"
backoff = "1s-1s"
`
	worker := `#!/bin/sh
echo "start $ONESLOT_ATTEMPT" >>/state/journal
[ -e /state/second ] || sleep 600
echo "end $ONESLOT_ATTEMPT" >>/state/journal
`
	for name, text := range map[string]string{"oneslot.toml": config, "worker.sh": worker} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Dir(program)} { // made for their owner alone
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	engine.MustRun(t, "run", "--detach", "--name", "oneslot", "--init", "--network", "none",
		"--volume", "oneslot-state:/state", "--volume", dir+":/etc/oneslot:ro", "--volume", filepath.Dir(program)+":/usr/local/bin:ro",
		rig.Image, "/usr/local/bin/oneslot", "--config", "/etc/oneslot/oneslot.toml", "serve")
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := engine.Run("logs", "oneslot")
			t.Logf("the daemon says:\n%s", log)
		}
	})
	oneslot := func(args ...string) (string, error) {
		return engine.Run(append([]string{"exec", "oneslot", "/usr/local/bin/oneslot", "--config", "/etc/oneslot/oneslot.toml"}, args...)...)
	}
	journal := func() string {
		out, _ := engine.Run("exec", "oneslot", "/bin/cat", "/state/journal")
		return out
	}
	until(t, "the daemon", func() bool { _, err := oneslot("peek", "octo-org/octo-repo#1"); return err == nil })
	if out, err := oneslot("dispatch", "octo-org/octo-repo#1"); err != nil {
		t.Fatal(err, out)
	}
	until(t, "the worker", func() bool { return journal() == "start 1" })

	engine.MustRun(t, "exec", "oneslot", "/bin/sh", "-c", ": >/state/second")
	engine.MustRun(t, "restart", "--timeout", "5", "oneslot")
	back := time.Now()
	until(t, "the work again", func() bool { return strings.Contains(journal(), "end") })
	t.Logf("%v after the restart: %q", time.Since(back).Round(100*time.Millisecond), journal())
	if got := strings.Fields(journal()); len(got) != 6 || got[2] != "start" || got[4] != "end" {
		t.Errorf("the workers were %q", journal())
	}
	// Nothing is left over: one event, done; two runs, ended.
	until(t, "all is settled", func() bool {
		out, err := oneslot("status", "--json")
		var status struct{ Slots, Queue []json.RawMessage }
		return err == nil && json.Unmarshal([]byte(out), &status) == nil && len(status.Slots)+len(status.Queue) == 0
	})
	out, err := oneslot("why", "octo-org/octo-repo#1")
	if err != nil {
		t.Error(err)
	}
	t.Log(out)
	if out, err = oneslot("runs", "--json"); err != nil || strings.Count(out, `"state":"ended"`) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
