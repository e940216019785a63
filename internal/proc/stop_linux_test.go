package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// gone fails the test if anybody of the tree lives.
func gone(t *testing.T, tree Tree) {
	t.Helper()
	if ms := members(t, tree); len(ms) != 0 {
		t.Errorf("still there: %+v", ms)
	}
}

func TestC52_TermIsIgnored(t *testing.T) {
	run := newRun(t)
	start(t, shell(run, `trap "" TERM; sleep 600 & sleep 600`))
	tree := Tree{Run: run}
	eventually(t, "three processes", func() bool { return len(members(t, tree)) == 3 })

	began := time.Now()
	report, err := tree.Stop(t.Context(), Stop{Grace: 300 * time.Millisecond})
	if err != nil || report.Termed < 3 || report.Killed < 1 || len(report.Left) != 0 {
		t.Errorf("Stop = %+v, %v", report, err)
	}
	if d := time.Since(began); d < 300*time.Millisecond || d > 3*time.Second {
		t.Errorf("it took %v", d)
	}
	gone(t, tree)
}

func TestC52_WhoEndsAtTermIsNotWaitedFor(t *testing.T) {
	run := newRun(t)
	start(t, shell(run, `sleep 600 & sleep 600`))
	tree := Tree{Run: run}
	eventually(t, "three processes", func() bool { return len(members(t, tree)) == 3 })
	began := time.Now()
	report, err := tree.Stop(t.Context(), Stop{Grace: time.Minute})
	if err != nil || report.Termed == 0 || report.Killed != 0 {
		t.Errorf("Stop = %+v, %v", report, err)
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("it took %v", d)
	}
}

// The first process has gone; what it left behind is still found.
func TestC52_Grandchildren(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		tree   func(run string, root slot.Process) Tree
		count  int
	}{
		"own session, by the variable": {
			`setsid sleep 600 & exit 0`,
			func(run string, _ slot.Process) Tree { return Tree{Run: run} }, 1},
		"no environment, by a living ancestor": {
			`env -i setsid sleep 600 & wait`,
			func(run string, _ slot.Process) Tree { return Tree{Run: run} }, 2},
		"no environment, by the noted root": {
			`exec env -i sh -c "setsid sleep 600 & setsid sleep 600"`,
			func(_ string, root slot.Process) Tree { return Tree{Processes: []slot.Process{root}} }, 3},
		"no environment, by the group of a dead leader": {
			`env -i sleep 600 & exit 0`,
			func(_ string, root slot.Process) Tree { return Tree{Groups: []Group{{root.PID, root}}} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			run := newRun(t)
			cmd := shell(run, c.script)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			tree := c.tree(run, start(t, cmd))
			sleeps := func() bool {
				ms := members(t, tree)
				return len(ms) == c.count && slices.ContainsFunc(ms, func(m Member) bool { return m.Command == "sleep" })
			}
			eventually(t, "all its processes", sleeps)
			if report, err := tree.Stop(t.Context(), Stop{Grace: 5 * time.Second}); err != nil {
				t.Errorf("Stop = %+v, %v", report, err)
			}
			gone(t, tree)
		})
	}
}

func TestC52_AStrangersGroupIsLeftAlone(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stranger := start(t, cmd)
	past := stranger
	past.Ticks--
	gone(t, Tree{Groups: []Group{{stranger.PID, past}}, Processes: []slot.Process{past}})
	past = stranger
	past.Boot = "another"
	gone(t, Tree{Groups: []Group{{stranger.PID, past}}, Processes: []slot.Process{past}})
}

func TestC52_AStoppedMemberGetsItsTerm(t *testing.T) {
	run := newRun(t)
	p := start(t, shell(run, `exec sleep 600`))
	if err := Signal(p, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	tree := Tree{Run: run}
	eventually(t, "stopped", func() bool { ms := members(t, tree); return len(ms) == 1 && ms[0].Stopped })
	report, err := tree.Stop(t.Context(), Stop{Grace: time.Minute})
	if err != nil || report.Termed != 1 || report.Killed != 0 {
		t.Errorf("Stop = %+v, %v", report, err)
	}
}

// Who hides from TERM by forking is frozen before it is killed. Its children
// have neither the variable nor the group.
func TestC52_AForkStormEnds(t *testing.T) {
	run := newRun(t)
	storm := `trap "" TERM; while :; do env -i setsid sh -c 'trap "" TERM; sleep 613 & sleep 613' & sleep 0.01; done`
	root := start(t, shell(run, storm+` & `+storm))
	tree := Tree{Run: run, Processes: []slot.Process{root}}
	eventually(t, "a storm", func() bool { return len(members(t, tree)) > 20 })
	report, err := tree.Stop(t.Context(), Stop{Grace: 200 * time.Millisecond, Settle: 20 * time.Second})
	if err != nil || report.Killed < 20 {
		t.Errorf("Stop = %d termed, %d killed, %d left, %v", report.Termed, report.Killed, len(report.Left), err)
	}
	gone(t, tree)
	if left := running(t, "sleep\x00613"); len(left) > 0 {
		t.Errorf("orphans of the storm: %+v", left)
	}
}

// running lists living processes with these words in their arguments.
func running(t *testing.T, words string) (found []stat) {
	t.Helper()
	v, err := newView()
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := v.scan()
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range all {
		args, _ := os.ReadFile(v.fs.path(st.pid, "cmdline"))
		if strings.Contains(string(args), words) && !st.over() {
			found = append(found, st)
		}
	}
	return found
}

func TestC52_TheOrphansOfASubreaper(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	other := start(t, exec.Command("sleep", "600"))
	cmd := exec.Command("sh", "-c", `env -i setsid sh -c 'sleep 600 & sleep 600' & exit 0`)
	start(t, cmd)
	tree := Tree{Under: []slot.Process{self}, Except: []slot.Process{other}}
	eventually(t, "the orphans", func() bool { return len(members(t, tree)) == 3 && state(cmd.Process.Pid) == 'Z' })
	// The shell may end by itself when its sleep has, before its own signal comes.
	report, err := tree.Stop(t.Context(), Stop{Grace: 10 * time.Second})
	if err != nil || report.Termed < 2 || report.Termed > 3 || report.Killed > 0 {
		t.Errorf("Stop = %+v, %v", report, err)
	}
	gone(t, tree)
	if s := Look(other); s.Life != Alive {
		t.Errorf("the excepted one: %+v", s)
	}
}

func TestStopIsCancelled(t *testing.T) {
	run := newRun(t)
	start(t, shell(run, `trap "" TERM; while :; do sleep 600; done`))
	tree := Tree{Run: run}
	eventually(t, "two processes", func() bool { return len(members(t, tree)) == 2 })
	ctx, cancel := context.WithCancel(t.Context())
	var points []string
	report, err := tree.Stop(ctx, Stop{Grace: time.Minute, Hook: func(point string) {
		points = append(points, point)
		if point == PointTermed {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(report.Left) == 0 {
		t.Errorf("Stop = %+v, %v", report, err)
	}
	report, err = tree.Stop(t.Context(), Stop{Hook: func(point string) { points = append(points, point) }})
	if err != nil || report.Termed != 0 {
		t.Errorf("Stop = %+v, %v", report, err)
	}
	if want := []string{PointFound, PointTermed, PointFrozen, PointKilled}; !slices.Equal(points, want) {
		t.Errorf("points %v, want %v", points, want)
	}
}

// Nobody is hidden by an error: what was noted and cannot be judged is unknown.
func TestP8_AnUnjudgedMarkIsNotGone(t *testing.T) {
	run := newRun(t)
	p := start(t, shell(run, `exec sleep 600`))
	hidden := p
	hidden.NS = 0
	tree := Tree{Run: run, Processes: []slot.Process{hidden}}
	if _, err := tree.Members(); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("Members: %v", err)
	}
	if _, err := tree.Stop(t.Context(), Stop{}); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("Stop: %v", err)
	}
	if s := Look(p); s.Life != Dead {
		t.Errorf("what could be ended was not: %+v", s)
	}
}

// The worker of another user cannot be stopped; the others are, and it is named.
func TestC52_NotPermitted(t *testing.T) {
	needRoot(t)
	run := newRun(t)
	stop := part(t, "stop-below")
	stop.Env = append(stop.Env, RunVariable+"="+run)
	asNobody(t, stop)
	// The part itself drops to nobody later: its own child stays root's.
	stop.SysProcAttr = nil
	out := strings.Join(output(t, stop), " ")
	if !strings.Contains(out, "belongs to root (uid 0): not allowed to stop it") || !strings.Contains(out, "termed 1") {
		t.Errorf("Stop by nobody: %s", out)
	}
}

func TestMembersKnowTheirNames(t *testing.T) {
	run := newRun(t)
	p := start(t, shell(run, `exec sleep 600`))
	tree := Tree{Run: run}
	eventually(t, "sleep", func() bool { ms := members(t, tree); return len(ms) == 1 && ms[0].Command == "sleep" })
	m := members(t, tree)[0]
	if m.Process != p || m.PID != p.PID || m.UID != os.Getuid() || m.Stopped {
		t.Errorf("%+v, want %+v", m, p)
	}
	for _, other := range []string{run + "0", run[:len(run)-1], ""} {
		gone(t, Tree{Run: other})
	}
}

// A takeover looks at all processes a few times, and has a second in all.
func BenchmarkLookByVariable(b *testing.B) {
	v, err := newView()
	if err != nil {
		b.Fatal(err)
	}
	all, _, err := v.scan()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (Tree{Run: "nobody"}).Members(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/process")
}
