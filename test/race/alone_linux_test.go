package race

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// supervisors counts those of this world that live.
func (d *daemons) supervisors() (n int) {
	for _, p := range d.mine() {
		argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if bytes.Contains(argv, []byte("\x00supervise-internal\x00")) {
			n++
		}
	}
	return n
}

func (d *daemons) runs(r slot.Ref) int {
	d.t.Helper()
	all, err := d.db.Runs(d.ctx, r, 0)
	if err != nil {
		d.t.Error(err)
	}
	return len(all)
}

// item is the ref's only work item.
func (d *daemons) item(r slot.Ref) queue.Item {
	d.t.Helper()
	items, err := d.db.Queue().Items(d.ctx, queue.Filter{Ref: r})
	if err != nil || len(items) != 1 {
		d.t.Fatalf("%v, %v; want one item", items, err)
	}
	return items[0]
}

// Without a daemon one process follows up for a ref, however many runs there were;
// and none does once a daemon is there.
func TestAlone_OneFollowsUp(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, roleVar+"=later")
	r := issue(t, 1)
	first := d.start(job{[]string{"dispatch", r.String(), "--rule", "work", "--wait"}, d.env})
	// Killed before it has handed the run over, it would leave nobody who follows up.
	poll(t, patience, "the first run", func() bool {
		all, err := d.db.Runs(d.ctx, r, 0)
		return err == nil && len(all) > 0 && !all[0].StartedAt.IsZero()
	})
	first.kill()
	<-first.done
	for _, enough := range []int{5, 10} {
		poll(t, patience, "more runs", func() bool { return d.runs(r) >= enough })
		// The one that follows up, that of the run, and one that is just ending.
		if n := d.supervisors(); n > 3 {
			t.Errorf("%d supervisors after %d runs", n, enough)
		}
	}
	d.serve()
	held, err := filepath.Glob(d.path("state/follow/*"))
	if err != nil {
		t.Fatal(err)
	}
	poll(t, patience, "the daemon is alone", func() bool { held, _ = filepath.Glob(d.path("state/follow/*")); return len(held) == 0 })
	before := d.runs(r)
	poll(t, patience, "the daemon goes on", func() bool { return d.runs(r) > before+1 })
}

// A supervisor whose run ends while the daemon drains starts what follows itself.
func TestDrain_SupervisorsFollowUp(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, endVar+"=1", untilVar+"="+"go")
	r := issue(t, 1)
	p := d.serve()
	d.wish((*daemons).byAPI, r, "one")
	d.started("")
	d.wish((*daemons).byAPI, r, "two")
	slow, err := net.Dial("unix", d.path("oneslot.sock")) // a request under way
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /api/v1/events HTTP/1.1\r\nHost: oneslot\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	if _, err := slow.Read(make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGTERM)
	poll(t, patience, "the dispatcher ends", func() bool {
		f, err := os.Open(d.path("state/oneslot.db.serve"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
	})
	if err := os.WriteFile(d.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	poll(t, patience, "the second run", func() bool { return d.runs(r) == 2 && d.item(r).State == queue.Idle })
	select {
	case <-p.done:
		t.Error("the daemon had ended by then: nothing was shown")
	default:
	}
	slow.Close()
	if code := d.code(p); code != 0 {
		t.Errorf("the daemon: exit %d\n%s", code, p.err.String())
	}
}

// What a dead run left on a ref on hold is cleared, although nobody can take it.
func TestHold_DeadRunIsCleared(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, untilVar+"=never")
	d.set("[limits]", "[limits]\nrunning = 1")
	r, other := issue(t, 1), issue(t, 2)
	d.serve()
	d.wish((*daemons).byAPI, r, "one")
	d.started("")
	d.want(0, job{[]string{"hold", r.String(), "--reason", "release"}, d.env})
	held := d.look(r).Live()
	if held == nil {
		t.Fatal("nobody holds it")
	}
	if err := syscall.Kill(held.Holder.Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	poll(t, patience, "its work waits again", func() bool { return d.item(r).State == queue.Pending })
	if run, err := d.db.Run(d.ctx, held.Run); err != nil || run.TreeGoneAt.IsZero() || run.Outcome.Result != slot.Vanish {
		t.Errorf("its run: %+v, %v", run, err)
	}
	d.want(0, job{[]string{"peek", other.String()}, d.env})
	d.wish((*daemons).byAPI, other, "two") // there is room for it
	poll(t, patience, "the other runs", func() bool { return d.look(other).Live() != nil })
}

// A supervisor whose file was broken meanwhile drops nothing by defaults, and keeps
// the daemon's waiting_max.
func TestBrokenFile_DropsNothing(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, roleVar+"=waiting")
	d.set("[[hook]]", "waiting_max = \"3d\"\n[retention]\nlogs = \"365d\"\n[[hook]]")
	r := issue(t, 1)
	d.serve()
	old := d.path("state/runs/old")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	poll(t, patience, "the first tidying", func() bool { _, err := os.Stat(d.path("state/tidied")); return err == nil })
	ago := time.Now().Add(-30 * 24 * time.Hour)
	for _, path := range []string{old, d.path("state/tidied")} {
		if err := os.Chtimes(path, ago, ago); err != nil {
			t.Fatal(err)
		}
	}
	d.set("[[rule]]", "[[rule]")
	d.wish((*daemons).byAPI, r, "one")
	poll(t, patience, "it waits for a person", func() bool {
		c := d.look(r).Live()
		return c != nil && c.Kind == slot.Waiting
	})
	if left := time.Until(d.look(r).Live().ExpiresAt); left > 3*24*time.Hour || left < 2*24*time.Hour {
		t.Errorf("it may wait for %v, want 3d", left)
	}
	poll(t, patience, "its supervisor ends", func() bool { return d.supervisors() <= 1 })
	if _, err := os.Stat(old); err != nil {
		t.Errorf("a log that is kept for a year is gone: %v", err)
	}
}
