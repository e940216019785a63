package two

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// world is a daemon with a store, a configuration and a journal of its own.
type world struct {
	t      testing.TB
	dir    string
	env    []string // for the daemon and all who talk to it, beside the usual
	client *http.Client
	daemon *exec.Cmd

	mu      sync.Mutex
	sent    map[string]time.Duration // boot time of the answer to each delivery, by head
	machine []time.Duration
}

// url is where the daemon is, for client: it listens at a socket.
const url = "http://localhost"

// newWorld makes a world whose daemon has these gates; work is how long a worker of
// the daemon works.
func newWorld(t testing.TB, env []string, gates, quiet string, work time.Duration) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "two-") // short: sockets have at most 108 characters
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, env: env, sent: map[string]time.Duration{}}
	t.Cleanup(func() {
		w.endWorkers()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", w.path("api.sock"))
		},
	}}
	t.Cleanup(w.client.CloseIdleConnections)
	w.configure(gates, quiet, work)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// configure writes the configuration; a daemon follows.
func (w *world) configure(gates, quiet string, work time.Duration) {
	w.t.Helper()
	text := fmt.Sprintf(`store  = "sqlite:state/oneslot.db"
listen = "unix:api.sock"
[limits]
runs_per_ref = "100000/24h"
[[hook]]
name   = "hello"
forge  = "github"
secret = { file = "secret" }
[[rule]]
name  = "fix-ci"
on    = ["ci_failed"]
run   = [%q, "daemon", "{number}", "{sha}", %q, "%v"]
quiet = %q
grace = "2s"
%s`, worker, w.path("journal"), work, quiet, gates)
	w.write("secret", secret)
	w.write("oneslot.toml.new", text)
	if err := os.Rename(w.path("oneslot.toml.new"), w.path("oneslot.toml")); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(append(os.Environ(), "HOME="+w.dir, "ONESLOT_CONFIG="+w.path("oneslot.toml")), w.env...)
	cmd.Dir = w.dir
	return cmd
}

// oneslot runs a verb and returns what it printed.
func (w *world) oneslot(args ...string) []byte {
	w.t.Helper()
	out, err := w.command(program, args...).Output()
	if err != nil {
		w.t.Errorf("oneslot %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// serve starts the daemon and waits until it serves. It ends with the test.
func (w *world) serve() {
	w.t.Helper()
	log, err := os.Create(w.path("log"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	w.daemon = w.command(program, "serve", "--log", "json")
	w.daemon.Stdout, w.daemon.Stderr = log, log
	if err := w.daemon.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.daemon.Wait() }()
	w.t.Cleanup(func() {
		w.daemon.Process.Signal(unix.SIGTERM) //nolint:errcheck // it may have ended
		if err := <-ended; err != nil {
			w.t.Errorf("the daemon: %v", err)
		}
		if w.t.Failed() {
			text, _ := os.ReadFile(w.path("log"))
			w.t.Logf("the daemon's log ends:\n%s", text[max(0, len(text)-4000):])
		}
	})
	w.ready(ended)
}

// ready waits until the daemon serves, unless it ends.
func (w *world) ready(ended chan error) {
	w.t.Helper()
	poll(w.t, patience, "the daemon is ready", func() bool {
		select {
		case err := <-ended:
			ended <- err
			w.t.Fatalf("the daemon ended: %v", err)
		default:
		}
		resp, err := w.client.Get(url + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// get reads from the API.
func (w *world) get(path string, into any) {
	w.t.Helper()
	resp, err := w.client.Get(url + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s: %v", path, resp.Status, err)
	}
}

// logged counts in the daemon's log how often it said these words.
func (w *world) logged(words string) int {
	text, err := os.ReadFile(w.path("log"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Count(string(text), words)
}

func (w *world) journal() []stint { return journal(w.t, w.path("journal")) }

// stints are those of one side, or on one head.
func (w *world) stints(side, sha string) (list []stint) {
	for _, s := range w.journal() {
		if s.side == side && (sha == "" || s.sha == sha) {
			list = append(list, s)
		}
	}
	return list
}

// ended waits until the daemon's worker for a head has ended, and returns its time.
func (w *world) ended(sha string) (s stint) {
	w.t.Helper()
	poll(w.t, patience, "a run for "+sha+" ends", func() bool {
		for _, s = range w.stints(daemonSide, sha) {
			if s.end != 0 {
				return true
			}
		}
		return false
	})
	return s
}

// started waits until the daemon's worker for a head works.
func (w *world) started(sha string) (s stint) {
	w.t.Helper()
	poll(w.t, patience, "a run for "+sha+" starts", func() bool {
		list := w.stints(daemonSide, sha)
		if len(list) > 0 {
			s = list[0]
		}
		return len(list) > 0
	})
	return s
}

// endWorkers ends what a failed test left.
func (w *world) endWorkers() {
	for _, s := range w.journal() {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.pid)); s.end == 0 && err == nil && exe == worker {
			unix.Kill(s.pid, unix.SIGKILL) //nolint:errcheck // it may have ended
		}
	}
}

// work is a row of `status --json` or `why --json`.
type work struct {
	Ref, Rule, State, Reason string
	Attempts, Defers         int
}

// decision is a row of `why --json`.
type decision struct {
	Path, Verdict, Reason, Detail, Next, Run string
	Count                                    int
}

// ref is a pull request of failedCheck's repository.
func ref(number string) string { return "codertocat/hello-world#" + number }

// why asks `oneslot why`.
func (w *world) why(number string) (items []work, decisions []decision) {
	w.t.Helper()
	var v struct {
		Work      []work
		Decisions []decision
	}
	if err := json.Unmarshal(w.oneslot("why", "--json", ref(number)), &v); err != nil {
		w.t.Fatal(err)
	}
	return v.Work, v.Decisions
}

// held reports whether somebody holds the slot of a pull request.
func (w *world) held(number string) (held bool, reason string) {
	w.t.Helper()
	var v struct {
		Slot struct{ State, Reason string }
	}
	if err := json.Unmarshal(w.oneslot("why", "--json", ref(number)), &v); err != nil {
		w.t.Fatal(err)
	}
	return v.Slot.State == "held", v.Slot.Reason
}

// says finds a decision with this verdict whose reason begins, and whose detail goes on,
// with the given words.
func (w *world) says(number, verdict, reason, detail string) (d decision, ok bool) {
	_, all := w.why(number)
	for _, d = range all {
		if d.Verdict == verdict && strings.HasPrefix(d.Reason, reason) && strings.Contains(d.Detail, detail) {
			return d, true
		}
	}
	return d, false
}

// settled waits until nothing is pending or running, and checks that every event has
// ended in a run or in a recorded skip.
func (w *world) settled() {
	w.t.Helper()
	var status struct{ Queue []work }
	poll(w.t, patience, "the queue is empty", func() bool {
		if err := json.Unmarshal(w.oneslot("status", "--json"), &status); err != nil {
			w.t.Fatal(err)
		}
		return len(status.Queue) == 0
	})
	var list struct {
		Events []struct{ Event, State, Run, Reason string }
	}
	w.get("/api/v1/events?limit=100000", &list)
	for _, e := range list.Events {
		switch {
		case (e.State == "done" || e.State == "superseded") && e.Run != "":
		case e.State == "skipped" && e.Reason != "":
		default:
			w.t.Errorf("event %s ended in nothing: %+v", e.Event, e)
		}
	}
}
