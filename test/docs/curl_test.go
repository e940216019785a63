package docs

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The curl recipe: claim, renew, check and release around somebody's command, with
// each of its exit codes.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		missing(t, "examples/curl", "curl: "+err.Error())
	}
	t.Parallel()
	home := t.TempDir()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := lis.Addr().String()
	lis.Close() // and the daemon takes it
	env := append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "ONESLOT_STORE=sqlite:"+home+"/o.db", "ONESLOT_API=http://"+at)
	cmd := func(name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
		c, out := exec.Command(name, args...), &bytes.Buffer{}
		c.Env, c.Dir, c.Stdout, c.Stderr, c.WaitDelay = env, home, out, out, time.Second
		return c, out
	}
	script, err := filepath.Abs(root + "/examples/curl/with-slot.sh")
	if err != nil {
		t.Fatal(err)
	}
	with := func(args ...string) (int, string) {
		t.Helper()
		c, out := cmd("sh", append([]string{script}, args...)...)
		if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), out.String()
	}
	if code, out := with("key:a", "touch", "started"); code != 69 {
		t.Errorf("without a server: exit %d\n%s", code, out)
	}
	daemon, log := cmd(program, "serve", "--listen", at)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
	})
	await(t, "the daemon serves", func() bool {
		res, err := http.Get("http://" + at + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})

	env = append(env, "SLOT_TTL=3s")
	const check = `curl -sSf -H 'Content-Type: application/json' -d "{\"token\":\"$SLOT_TOKEN\"}" "$SLOT_API/claims/$SLOT_CLAIM/check" >/dev/null`
	if code, out := with("key:a", "sh", "-c", check+" && sleep 4 && "+check+" && exit 3"); code != 3 {
		t.Errorf("the command's own: exit %d\n%s%s", code, out, log)
	}
	peek := func() int {
		c, _ := cmd(program, "peek", "-q", "key:a")
		_ = c.Run()
		return c.ProcessState.ExitCode()
	}
	if code := peek(); code != 0 {
		t.Errorf("afterwards: peek %d; want free", code)
	}
	first, said := cmd("sh", script, "key:a", "sh", "-c", "echo working; exec sleep 600")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the first works", func() bool { return peek() == 75 })
	if code, out := with("key:a", "touch", "started"); code != 75 || !strings.Contains(out, "urn:oneslot:busy") {
		t.Errorf("beside another: exit %d\n%s", code, out)
	}
	over, out := cmd(program, "takeover", "key:a", "--reason", "test")
	if err := over.Run(); err != nil {
		t.Errorf("takeover: %v\n%s", err, out)
	}
	_ = first.Wait()
	if code := first.ProcessState.ExitCode(); code != 81 {
		t.Errorf("taken over: exit %d; want 81\n%s", code, said)
	}
	if _, err := os.Stat(filepath.Join(home, "started")); err == nil {
		t.Error("something was started without the slot")
	}
}

// await polls for what has to come.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
