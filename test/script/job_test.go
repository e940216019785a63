package script

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// shell is one with job control, at a terminal.
type shell struct {
	t   *testing.T
	tty *os.File
	dir string
	env []string

	mu  sync.Mutex
	out bytes.Buffer
}

func newShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	s := &shell{t: t, dir: dir, env: []string{
		"PATH=" + program + ":" + os.Getenv("PATH"), "HOME=" + dir, "PS1=ready> ", "TERM=dumb", "ONESLOT_HOST=host-a",
	}}
	s.setClaim("octo-org/octo-repo#1", "--ttl", "2s")
	cmd := exec.Command("sh", "-i")
	cmd.Dir, cmd.Env = dir, s.env
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatalf("no terminal: %v", err)
	}
	s.tty = tty
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			s.mu.Lock()
			s.out.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		tty.Close() // a hang-up ends its jobs
		cmd.Process.Kill()
		cmd.Wait()
		<-read
		if t.Failed() {
			t.Logf("terminal:\n%s", s.out.String())
		}
	})
	return s
}

// oneslot runs it outside of the shell.
func (s *shell) oneslot(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(program, "oneslot"), args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("oneslot %v: %v", args, err)
	}
	return string(out)
}

func (s *shell) setClaim(args ...string) {
	s.t.Helper()
	var key struct{ Claim, Token string }
	if err := json.Unmarshal([]byte(s.oneslot(append([]string{"claim", "--json"}, args...)...)), &key); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "ONESLOT_CLAIM="+key.Claim, "ONESLOT_TOKEN="+key.Token)
}

func (s *shell) types(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shell) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (s *shell) says(text string) {
	s.t.Helper()
	s.until(text, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.out.String(), text)
	})
}

func (s *shell) beats() int64 {
	info, err := os.Stat(filepath.Join(s.dir, "beat"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// guarded starts a guarded command and stops it with Ctrl-Z: the shell has the
// terminal again, and the command is quiet.
func (s *shell) guarded() {
	s.t.Helper()
	s.says("ready> ")
	s.types("oneslot guard -- sh -c 'while :; do echo x >>beat; sleep 0.02; done'\n")
	s.until("a beat", func() bool { return s.beats() > 0 })
	s.types("\x1a")
	s.types("echo shell-$((40+2))\n")
	s.says("shell-42")
	n := s.beats()
	time.Sleep(100 * time.Millisecond)
	if s.beats() != n {
		s.t.Fatal("the command goes on although its job was stopped")
	}
}

// Ctrl-Z at a guarded command gives the shell its terminal; `fg` goes on.
func TestGuard_StopsAsAJob(t *testing.T) {
	s := newShell(t)
	s.guarded()
	n := s.beats()
	s.types("fg\n")
	s.until("a beat", func() bool { return s.beats() > n })
	s.types("\x03")
	s.types("echo code-$?\n")
	s.says("code-130")
}

// P3: a claim that was lost while the job was stopped is lost: its command does
// nothing more.
func TestGuard_LostWhileStopped(t *testing.T) {
	s := newShell(t)
	s.guarded()
	n := s.beats()
	s.oneslot("run", "octo-org/octo-repo#1", "--force", "--reason", "test", "--", "true")
	s.types("fg\n")
	s.types("echo code-$?\n")
	s.says("code-81")
	if s.beats() != n {
		t.Error("the command went on without its claim")
	}
}

// One that ran out while the job was stopped, and that nobody took, goes on.
func TestGuard_OverdueWhileStopped(t *testing.T) {
	s := newShell(t)
	s.guarded()
	n := s.beats()
	s.until("free", func() bool { return strings.Contains(s.oneslot("status", "--json"), `"free"`) })
	s.types("fg\n")
	s.until("a beat", func() bool { return s.beats() > n })
	s.types("\x03")
	s.types("echo code-$?\n")
	s.says("code-130")
}
