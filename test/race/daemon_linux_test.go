package race

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// hookSecret signs the deliveries to a test's daemon.
const hookSecret = "not-a-secret"

// daemonConfig is of a daemon whose runs fail and come again within moments.
const daemonConfig = `
listen = "unix:%s"

[[hook]]
name   = "forge"
forge  = "github"
secret = { env = "RACE_HOOK_SECRET" }

[[rule]]
name      = "work"
on        = ["labeled", "manual"]
run       = [%q]
attempts  = 4
backoff   = "20ms-100ms"
quiet     = "20ms"
max_quiet = "100ms"
ttl       = "3s"
grace     = "100ms"

[limits]
runs_per_ref = "1000000/1h"
`

// daemons is a world whose queue a daemon works. It may be killed and started
// again at any moment; its clients do not know.
type daemons struct {
	*world
	client *http.Client
	env    []string // of each daemon beside the usual

	mu  sync.Mutex
	now *process // the one that serves, or the last that did
}

func newDaemons(t testing.TB, program string, env ...string) *daemons {
	t.Helper()
	d := &daemons{world: newWorld(t, program)}
	socket := d.path("oneslot.sock")
	dial := net.Dialer{}
	d.client = &http.Client{Timeout: patience, Transport: &http.Transport{
		MaxIdleConnsPerHost: stormClients,
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial.DialContext(ctx, "unix", socket) },
	}}
	t.Cleanup(d.client.CloseIdleConnections)
	if err := os.WriteFile(d.path("oneslot.toml"), fmt.Appendf(nil, daemonConfig, socket, helperProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = append([]string{"ONESLOT_CONFIG=" + d.path("oneslot.toml"), "RACE_HOOK_SECRET=" + hookSecret, roleVar + "=queued"}, env...)
	return d
}

// serve starts a daemon, and waits until it answers or has ended: it may be one
// that dies early.
func (d *daemons) serve(env ...string) *process {
	d.t.Helper()
	p := d.start(job{[]string{"serve"}, append(env, d.env...)})
	d.mu.Lock()
	d.now = p
	d.mu.Unlock()
	poll(d.t, patience, "the daemon serves", func() bool {
		select {
		case <-p.done:
			if len(env) == 0 {
				d.t.Fatalf("the daemon ended at once\n%s", p.err.String())
			}
			return true
		default:
		}
		resp, err := d.client.Get("http://oneslot/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// kill ends the daemon with SIGKILL, and waits for that.
func (d *daemons) kill() {
	d.mu.Lock()
	p := d.now
	d.mu.Unlock()
	p.kill()
	<-p.done
}

// end has the daemon end by itself, and reads what it had to complain of.
func (d *daemons) end() {
	d.t.Helper()
	d.mu.Lock()
	p := d.now
	d.mu.Unlock()
	p.signal(syscall.SIGTERM)
	if code := d.code(p); code != 0 {
		d.t.Errorf("the daemon: exit %d\n%s", code, p.err.String())
	}
	for line := range strings.Lines(p.err.String()) {
		if strings.Contains(line, "level=ERROR") {
			d.t.Errorf("the daemon said: %s", line)
		}
	}
}

// drained waits until nothing of the refs waits or runs.
func (d *daemons) drained(refs ...slot.Ref) {
	d.t.Helper()
	for end := boot() + patience; ; time.Sleep(10 * time.Millisecond) {
		left := d.open(refs...)
		if len(left) == 0 {
			return
		}
		if boot() > end {
			d.t.Errorf("stuck: %s", strings.Join(left, "; "))
			d.explain(refs...)
			return
		}
	}
}

// open lists what of the refs waits or runs.
func (d *daemons) open(refs ...slot.Ref) (left []string) {
	d.t.Helper()
	for _, r := range refs {
		items, err := d.db.Queue().Items(d.ctx, queue.Filter{Ref: r})
		if err != nil {
			d.t.Error(err)
		}
		for _, it := range items {
			if it.State == queue.Pending || it.State == queue.Running {
				left = append(left, fmt.Sprintf("%s is %s (%s %s), due %v, run %q", it.Ref, it.State, it.Reason, it.Detail, it.Due, it.Run))
			}
		}
	}
	return left
}

// explain logs what the program itself has to say.
func (d *daemons) explain(refs ...slot.Ref) {
	d.mu.Lock()
	d.t.Logf("the daemon's log:\n%s", d.now.err.String())
	d.mu.Unlock()
	for _, r := range refs {
		_, p := d.do(job{args: []string{"why", r.String()}})
		d.t.Logf("%s%s", p.out.String(), p.err.String())
	}
}

// gone waits until no process of this world is left.
func (d *daemons) gone() {
	d.t.Helper()
	for end := boot() + leftTime; len(d.mine()) > 0; time.Sleep(5 * time.Millisecond) {
		if boot() > end {
			d.t.Errorf("P11: left behind: %v", d.mine())
			return
		}
	}
}
