package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// Process names the files by which a program on this host shows that it works.
// Both may have placeholders.
type Process struct {
	// PIDFile holds the number of its process. Nothing else is known of that, so a
	// number that was given to another process since is in the way as well.
	PIDFile string
	// Flock is a file on which it holds a lock, by flock(2) or fcntl(2).
	Flock string
}

// lookEvery is how often what was in the way is looked at, while it is.
const lookEvery = 250 * time.Millisecond

type process struct {
	Process
	mu   sync.Mutex
	seen map[Process]bool // files, values filled in, of what is in the way
}

// NewProcess is the gate "process": it defers while the process of a pid file lives
// or somebody holds a lock. Errors match slot.ErrUsage.
func NewProcess(p Process) (Gate, error) {
	for key, text := range map[string]string{"pid_file": p.PIDFile, "flock": p.Flock} {
		if err := slot.CheckExpand(text); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return &process{Process: p, seen: map[Process]bool{}}, nil
}

func (g *process) Type() string { return "process" }

func (g *process) Ask(_ context.Context, a Ask) Answer {
	if g.Process == (Process{}) {
		return Answer{Detail: "neither pid_file nor flock is configured"}
	}
	pidFile, err1 := slot.Expand(g.PIDFile, a.Ref, a.Sha)
	lock, err2 := slot.Expand(g.Flock, a.Ref, a.Sha)
	if err := errors.Join(err1, err2); err != nil {
		return cannotName("process", err)
	}
	files := Process{pidFile, lock}
	ans := files.look()
	if ans.Verdict == slot.Defer {
		g.mu.Lock()
		g.seen[files] = true
		g.mu.Unlock()
	}
	return ans
}

// Watch looks again at what was in somebody's way until it is not. Whoever was put
// off before is not known here, and may be free by now.
func (g *process) Watch(ctx context.Context, changed func()) error {
	changed()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		for _, files := range g.held() {
			if files.look().Verdict == slot.Defer {
				continue
			}
			g.mu.Lock()
			delete(g.seen, files)
			g.mu.Unlock()
			changed()
		}
	}
}

func (g *process) held() []Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Process
	for files := range g.seen {
		list = append(list, files)
	}
	return list
}

// look judges two files; one whose name is empty is not asked for.
func (p Process) look() Answer {
	if p.PIDFile != "" {
		if ans := lookPIDFile(p.PIDFile); ans.Verdict != slot.Proceed || p.Flock == "" {
			return ans
		}
	}
	return lookLock(p.Flock)
}

func lookPIDFile(path string) Answer {
	f, err := openPlain(path)
	if errors.Is(err, os.ErrNotExist) {
		return proceed("process", "free", "there is no "+path)
	}
	if err != nil {
		return unknown("process", err.Error())
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, pidFileMax))
	if err != nil {
		return unknown("process", err.Error())
	}
	pid, err := parsePID(text)
	if err != nil {
		return unknown("process", fmt.Sprintf("%s: %v", path, err))
	}
	p, err := proc.Identify(pid)
	if errors.Is(err, os.ErrProcessDone) {
		return proceed("process", "free", fmt.Sprintf("%s is stale: no process has the number %d", path, pid))
	}
	if err != nil {
		return unknown("process", fmt.Sprintf("process %d: %v", pid, err))
	}
	switch s := proc.Look(p); s.Life {
	case proc.Alive:
		return deferral("process", "pid "+strconv.Itoa(pid)+" lives", path+": "+s.Detail)
	case proc.Dead:
		return proceed("process", "free", path+" is stale: "+s.Detail)
	default:
		return unknown("process", path+": "+s.Detail)
	}
}

// pidFileMax bounds what is read of a pid file; some hold more lines than the first.
const pidFileMax = 4096

// parsePID reads the first line of a pid file. An empty file may be one that is just
// being written, and is no number.
func parsePID(text []byte) (int, error) {
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSpace(line)
	pid, err := strconv.ParseUint(line, 10, 31)
	if err != nil || pid == 0 {
		return 0, fmt.Errorf("%q is not the number of a process", clip(line))
	}
	return int(pid), nil
}

// openPlain opens a file to look at it: it waits for nobody.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
