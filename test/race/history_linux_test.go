package race

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim/claimtest/history"
	"github.com/oneslot/oneslot/internal/slot"
)

// TestHistory: several processes claim, renew, give back and take over on one
// file, claims expire, and processes are killed in the middle of their calls.
// What was recorded must be explainable by a store that keeps P1, P2 and P3.
func TestHistory(t *testing.T) {
	rec := newRecording(t, false)
	for rec.calls < number(t, "ONESLOT_OPS", 5000) && !t.Failed() {
		events := rec.epoch()
		picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("history-%d.html", rec.epochs))
		if err := history.Check(events, time.Millisecond, picture); err != nil {
			t.Error(err)
		}
		rec.count(events)
	}
	t.Log(rec)
	if 20*rec.unknown < rec.calls {
		t.Errorf("only %d of %d calls have an unknown end", rec.unknown, rec.calls)
	}
	for _, kind := range []history.Kind{history.CallAcquire, history.CallTakeover, history.CallRenew, history.CallRelease} {
		if rec.kinds[kind] < rec.calls/50 {
			t.Errorf("only %d calls of %s", rec.kinds[kind], kind)
		}
	}
	if rec.expired == 0 {
		t.Error("no claim was had because another one expired")
	}
}

// The twin: processes whose claim is a look and a write are found out.
func TestHistory_OfAStoreThatOnlyPeeks(t *testing.T) {
	rec := newRecording(t, true)
	for rec.calls < 5000 {
		events := rec.epoch()
		picture := filepath.Join(t.ArtifactDir(), "history.html")
		if err := history.Check(events, time.Millisecond, picture); err != nil {
			t.Logf("caught after %d calls: %v", rec.calls, err)
			if info, err := os.Stat(picture); err != nil || info.Size() == 0 {
				t.Errorf("no picture: %v", err)
			}
			return
		}
		rec.count(events)
	}
	t.Errorf("%v: not caught", rec)
}

// recording is a history in parts, each with slots of its own: one search over
// all of it would take for ever.
type recording struct {
	*world
	wrong bool
	rnd   *rand.Rand
	seed  uint64

	epochs, calls, unknown, kills, expired int
	kinds                                  map[history.Kind]int
	outcomes                               map[history.Outcome]int
}

func newRecording(t *testing.T, wrong bool) *recording {
	s := seed(t)
	return &recording{
		world: newWorld(t, helperProgram), wrong: wrong, rnd: rand.New(rand.NewPCG(s, 0)), seed: s,
		kinds: map[history.Kind]int{}, outcomes: map[history.Outcome]int{},
	}
}

func (r *recording) String() string {
	return fmt.Sprintf("%d calls in %d parts by %d processes that were killed, %v; ends %v, %d of them unknown; %d claims had by expiry; ONESLOT_SEED=%d",
		r.calls, r.epochs, r.kills, r.kinds, r.outcomes, r.unknown, r.expired, r.seed)
}

// The size of one part.
const (
	epochRefs      = 4
	epochProcesses = 3
	epochLines     = 2000 // two for each call
	lifeLines      = 400  // of the whole record, during the life of one process
)

// epoch records one part.
func (r *recording) epoch() []history.Event {
	r.epochs++
	l := load{Store: r.db.Path(), Record: r.path(fmt.Sprintf("record-%d", r.epochs)), Wrong: r.wrong}
	var refs []slot.Ref
	for i := range epochRefs {
		refs = append(refs, ref(r.t, fmt.Sprintf("part-%d-slot-%d", r.epochs, i)))
		l.Refs = append(l.Refs, refs[i].String())
	}
	for half := 1; half <= 2; half++ {
		var wg sync.WaitGroup
		for i := range epochProcesses {
			rnd := rand.New(rand.NewPCG(r.rnd.Uint64(), uint64(i)))
			wg.Go(func() {
				for r.lines(l.Record) < half*epochLines/2 && !r.t.Failed() {
					r.life(l, rnd)
				}
			})
		}
		wg.Wait()
		for _, ref := range refs { // whatever the killed have left runs out
			poll(r.t, patience, "claims expire", func() bool {
				c := r.look(ref).Live()
				return c == nil || c.Expired()
			})
		}
	}
	data, err := os.ReadFile(l.Record)
	if err != nil {
		r.t.Fatal(err)
	}
	events, err := history.Read(bytes.NewReader(data))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, ref := range refs {
		decisions, err := r.db.Decisions(r.ctx, ref)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, d := range decisions {
			if d.Verdict == slot.Proceed && d.Reason == slot.ReasonExpired {
				r.expired += d.Count
			}
		}
	}
	return events
}

// life is one process, from its start to its violent end.
func (r *recording) life(l load, rnd *rand.Rand) {
	l.Seed = rnd.Uint64()
	text, err := json.Marshal(l)
	if err != nil {
		r.t.Error(err)
		return
	}
	cmd := exec.Command(helperProgram)
	cmd.Env = append(os.Environ(), roleVar+"=load", loadVar+"="+string(text), worldVar+"="+r.dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		r.t.Error(err)
		return
	}
	until := r.lines(l.Record) + 1 + rnd.IntN(lifeLines)
	for end := boot() + patience; r.lines(l.Record) < until && boot() < end; {
		time.Sleep(time.Duration(rnd.Int64N(int64(5 * time.Millisecond))))
	}
	cmd.Process.Kill() //nolint:errcheck
	cmd.Wait()         //nolint:errcheck
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		r.t.Errorf("a process ended by itself: %v", cmd.ProcessState)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills++
}

// lines is about how many lines a record has.
func (r *recording) lines(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0 // nobody has written yet
	}
	return int(info.Size() / 190)
}

// count adds up what was recorded.
func (r *recording) count(events []history.Event) {
	open := map[string]bool{}
	for _, e := range events {
		if e.Kind != "" {
			r.calls++
			r.kinds[e.Kind]++
			open[e.Op] = true
			continue
		}
		r.outcomes[e.Outcome]++
		if e.Outcome == history.Unknown {
			r.unknown++
		}
		delete(open, e.Op)
	}
	r.unknown += len(open)
}
