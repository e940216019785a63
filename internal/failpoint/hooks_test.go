//go:build oneslot_hooks

package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestKillsAtTheNthHit(t *testing.T) {
	if os.Getenv("FAILPOINT_TEST_CHILD") != "" {
		Hit(AfterFork)
		Hit(BeforeFork)
		os.Stdout.WriteString("once")
		Hit(BeforeFork)
		os.Stdout.WriteString("twice")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillsAtTheNthHit$")
	notes := filepath.Join(t.TempDir(), "notes")
	cmd.Env = append(os.Environ(), "FAILPOINT_TEST_CHILD=1", killVar+"="+BeforeFork+":2", noteVar+"="+notes)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("ended with %v, want SIGKILL", err)
	}
	if string(out) != "once" {
		t.Errorf("printed %q", out)
	}
	if note, err := os.ReadFile(notes); err != nil || string(note) != BeforeFork+"\n" {
		t.Errorf("noted %q (%v)", note, err)
	}
}

func TestWallClockShiftedLater(t *testing.T) {
	t.Setenv(wallVar, "-90s")
	if got := Clock(still{}).Wall(); !got.Equal(time.Unix(-89, 0)) {
		t.Errorf("wall = %v", got)
	}
	t.Setenv(wallVar, "1h@1m")
	if got := Clock(still{}).Wall(); !got.Equal(time.Unix(1, 0)) {
		t.Errorf("shifted too early: %v", got)
	}
}
