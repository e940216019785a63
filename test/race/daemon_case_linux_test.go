package race

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// deliver sends a webhook request once, signed or not.
func (d *daemons) deliver(guid string, body []byte, signed bool) (status int, result string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.ctx, http.MethodPost, "http://oneslot/hooks/forge", bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.GetBody = nil
	req.Header = http.Header{"X-Github-Event": {"issues"}, "X-Github-Delivery": {guid}, "Content-Type": {"application/json"}}
	if signed {
		mac := hmac.New(sha256.New, []byte(hookSecret))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	var got struct{ Results []struct{ Result string } }
	if json.NewDecoder(resp.Body).Decode(&got) == nil && len(got.Results) == 1 {
		result = got.Results[0].Result
	}
	return resp.StatusCode, result
}

// labeled is the body of a delivery. The title stands in it as it is given.
func labeled(r slot.Ref, title string) []byte {
	return fmt.Appendf(nil, `{"action":"labeled","label":{"name":"go"},"sender":{"login":"mona","type":"User"},
		"issue":{"number":%d,"state":"open","title":"%s","user":{"login":"octocat"},"updated_at":"2026-01-01T00:00:00Z"},
		"repository":{"full_name":%q,"private":false,"html_url":"https://github.com/%[3]s"}}`, r.Number(), title, r.Owner()+"/"+r.Name())
}

// C25: an id is noted with its event, or not at all. One that came unsigned, or with
// a daemon that was killed before it had all on disk, is no duplicate when it comes.
func TestC25_TheMemoryForDuplicatesLosesNothing(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, hookedProgram, endVar+"=1")
	r := issue(t, 25)
	body := labeled(r, "a")
	d.serve("ONESLOT_FAILPOINT=" + failpoint.AfterAccept)
	if status, _ := d.deliver("g-1", body, false); status != http.StatusUnauthorized {
		t.Errorf("unsigned: %d", status)
	}
	if status, _ := d.deliver("g-1", body, true); status != 0 {
		t.Errorf("it was answered %d by a daemon that was to die", status)
	}
	d.kill()
	if all, err := d.db.Queue().Events(d.ctx, queue.Filter{}); err != nil || len(all) != 0 {
		t.Fatalf("on record: %v, %v", all, err)
	}
	d.serve("ONESLOT_FAILPOINT=" + failpoint.AfterCommit)
	if status, _ := d.deliver("g-1", body, true); status != 0 {
		t.Errorf("it was answered %d by a daemon that was to die", status)
	}
	d.kill()
	d.serve()
	if status, result := d.deliver("g-1", body, true); status != http.StatusAccepted || slot.Intake(result) != slot.Duplicate {
		t.Errorf("what was kept, and not answered: %d %s", status, result)
	}
	d.drained(r)
	if n := d.runs(r); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	d.end()
}

// C39: odd titles reach the worker as they came, byte for byte, and nobody's
// terminal or log.
func TestC39_OddTitlesReachTheWorkerAlone(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, roleVar+"=keep")
	d.serve()
	for i, title := range []string{
		`nul \u0000 here`, `literal \\u0000`, `lone \ud800 surrogate`, "right \u202e left", `escaped \u202e, line\nfeed, \u001b[31mred`,
		"emoji \U0001f600", strings.Repeat("x", 65<<10),
	} {
		r := issue(t, 390+i)
		body := labeled(r, title)
		if status, result := d.deliver(fmt.Sprintf("g-%d", i), body, true); status != http.StatusAccepted || slot.Intake(result) != slot.Queued {
			t.Errorf("%.30q: %d %s", title, status, result)
			continue
		}
		kept := d.path("kept/" + r.Slug())
		poll(t, patience, fmt.Sprintf("%.30q reaches its worker", title), func() bool { _, err := os.Stat(kept + "/events"); return err == nil })
		told, err := os.ReadFile(kept + "/events")
		if err != nil || !bytes.Contains(told, body) {
			t.Errorf("%.30q: the worker got %.300q, %v", title, told, err)
		}
		if env, err := os.ReadFile(kept + "/environ"); err != nil || bytes.Contains(env, []byte("surrogate")) || bytes.ContainsFunc(env, odd) {
			t.Errorf("%.30q: in the environment: %q, %v", title, env, err)
		}
		d.drained(r)
		for _, verb := range []string{"why", "log"} {
			if _, p := d.do(job{[]string{verb, r.String()}, d.env}); bytes.ContainsFunc(p.out.Bytes(), odd) || bytes.ContainsFunc(p.err.Bytes(), odd) {
				t.Errorf("%.30q: %s shows %q %q", title, verb, p.out.String(), p.err.String())
			}
		}
	}
	for _, verb := range []string{"status", "runs"} {
		if p := d.want(0, job{[]string{verb}, d.env}); bytes.ContainsFunc(p.out.Bytes(), odd) {
			t.Errorf("%s shows %q", verb, p.out.String())
		}
	}
	d.end()
	if log := d.now.err.Bytes(); bytes.ContainsFunc(log, odd) {
		t.Errorf("the log: %q", log)
	}
}

// odd is what does something to a terminal.
func odd(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }

// C53: three living workers and a dead one, and a daemon killed with -9. The next one
// adopts the living, frees what the dead one held, and is the only one; also if it
// is a newer program, which changes the store under the older supervisors.
func TestC53_DaemonRestart(t *testing.T) {
	t.Parallel()
	t.Run("the same program", func(t *testing.T) { t.Parallel(); restart(t, plainProgram) })
	t.Run("the next program", func(t *testing.T) { t.Parallel(); restart(t, nextProgram) })
}

// restart kills a daemon and goes on with the program given.
func restart(t *testing.T, program string) {
	d := newDaemons(t, plainProgram, endVar+"=1", untilVar+"=go")
	d.serve()
	refs := []slot.Ref{issue(t, 1), issue(t, 2), issue(t, 3), issue(t, 4)}
	held := map[slot.Ref]*slot.Claim{}
	for i, r := range refs {
		d.wish((*daemons).byAPI, r, fmt.Sprint(i))
		poll(t, patience, "it runs", func() bool { c := d.look(r).Live(); held[r] = c; return c != nil && c.Phase == slot.Running })
	}
	d.kill()
	dead := refs[3]
	if err := syscall.Kill(held[dead].Holder.Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.program = program
	d.serve()
	first := d.now
	if p := d.want(75, job{[]string{"serve"}, d.env}); !strings.Contains(p.err.String(), fmt.Sprint(first.cmd.Process.Pid)) {
		t.Errorf("the second daemon is refused without the first one's pid: %s", p.err.String())
	}
	poll(t, patience, "the dead one is freed, and its work goes on", func() bool { return d.runs(dead) == 2 })
	if run, err := d.db.Run(d.ctx, held[dead].Run); err != nil || run.Outcome.Result != slot.Vanish || run.TreeGoneAt.IsZero() {
		t.Errorf("the dead run: %+v, %v", run, err)
	}
	for _, r := range refs[:3] {
		if c := d.look(r).Live(); c == nil || c.Run != held[r].Run {
			t.Errorf("%s is not held by its run any more: %+v", r, c)
		}
	}
	d.want(0, job{[]string{"stop", refs[0].String()}, d.env})
	if err := os.WriteFile(d.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.drained(refs...)
	for _, r := range refs[:3] {
		if n := d.runs(r); n != 1 {
			t.Errorf("%s ran %d times", r, n)
		}
	}
	if version, _, err := d.db.Schema(d.ctx); err != nil || (version > sqlite.Level()) != (program == nextProgram) {
		t.Errorf("the store is of version %d, %v", version, err)
	}
	d.end()
	d.gone()
}
