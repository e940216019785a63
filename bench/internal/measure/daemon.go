package measure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
)

// hookConfig is the one hook of a daemon under measure.
const hookConfig = "[[hook]]\nname = \"" + hookName + "\"\nforge = \"github\"\nsecret = { env = \"HOOK_SECRET\" }\n"

// daemon is a `oneslot serve` under measure, with a store and a configuration of
// its own.
type daemon struct {
	*Bench
	prog, path string // the program; the store
	host       string // where it listens
	cmd        *exec.Cmd
	log        *os.File
}

// newDaemon writes the configuration: the hook, and what is given.
func (b *Bench) newDaemon(ctx context.Context, config string) (*daemon, error) {
	prog, err := b.oneslot(ctx)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &daemon{Bench: b, prog: prog, path: b.path(), host: l.Addr().String()}
	l.Close() //nolint:errcheck // and the daemon takes it
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return nil, err
	}
	if d.log, err = os.Create(filepath.Join(filepath.Dir(d.path), "serve.log")); err != nil {
		return nil, err
	}
	return d, os.WriteFile(d.config(), []byte(hookConfig+config), 0o600)
}

func (d *daemon) config() string { return filepath.Join(filepath.Dir(d.path), "oneslot.toml") }

// start starts it, and does not wait until it serves.
func (d *daemon) start(ctx context.Context) error {
	cmd := command(ctx, d.environ(d.path, "HOOK_SECRET="+hookSecret), d.prog, "serve", "--config", d.config(), "--listen", d.host, "--stop-workers")
	cmd.Stderr = d.log
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	d.cmd = cmd
	return nil
}

// serve starts it and waits until it serves.
func (d *daemon) serve(ctx context.Context) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	return d.said(until(ctx, "the daemon serves", func() (bool, error) {
		answer, err := http.Get("http://" + d.host + "/readyz")
		if err != nil {
			return false, nil
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	}))
}

// said adds what the daemon said last to an error.
func (d *daemon) said(err error) error {
	if err == nil {
		return nil
	}
	text, _ := os.ReadFile(d.log.Name())
	return fmt.Errorf("%w; the daemon said: %s", err, text[max(0, len(text)-1000):])
}

// end ends it with its workers.
func (d *daemon) end() error {
	defer d.log.Close()
	if d.cmd == nil {
		return nil
	}
	d.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
	if err := d.cmd.Wait(); err != nil {
		return d.said(fmt.Errorf("the daemon: %w", err))
	}
	return nil
}

// kill ends it as a crash does.
func (d *daemon) kill() error {
	err := d.cmd.Process.Kill()
	d.cmd.Wait() //nolint:errcheck // it was killed
	d.cmd = nil
	return err
}

// still waits until nothing runs, and neither the daemon nor its idle supervisor
// uses the processor any more.
func (d *daemon) still(ctx context.Context) error { return d.stillWith(ctx, 2) }

// stillWith waits until there are so many processes, of itself and its supervisors,
// and none uses the processor any more.
func (d *daemon) stillWith(ctx context.Context, n int) error {
	last, since := int64(-1), time.Now()
	return d.said(until(ctx, "the daemon is still", func() (bool, error) {
		sum, all := int64(0), append(childrenOf(d.cmd.Process.Pid), d.cmd.Process.Pid)
		for _, pid := range all {
			t, err := ticksOf(pid)
			if err != nil {
				return false, nil // it just ended
			}
			sum += t
		}
		if sum != last || len(all) != n {
			last, since = sum, time.Now()
		}
		return time.Since(since) > 60*time.Millisecond, nil
	}))
}

// childrenOf lists the processes that a process has started and not collected.
func childrenOf(pid int) (list []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(task) //nolint:errcheck // a thread that has ended has none
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// ticksOf is the processor time of a process, in units of 1/machine.Hz s.
func ticksOf(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// After the name: state, then 10 others, then utime and stime.
	_, rest, _ := strings.Cut(trim(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, errors.New("/proc/PID/stat is cut")
	}
	var u, s int64
	_, err = fmt.Sscan(f[11]+" "+f[12], &u, &s)
	return u + s, err
}

// ticks is a number of ticks as a time.
func ticks(n int64) time.Duration { return time.Duration(n) * time.Second / machine.Hz }
