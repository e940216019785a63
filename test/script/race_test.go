package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// command starts the binary with a store of its own in dir.
func oneslot(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(program, "oneslot"), args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + program + ":" + os.Getenv("PATH"), "TZ=UTC"}
	return cmd
}

// TestC06_ManyClaimersOneList: 20 free refs in the same order for everyone, 20
// claimers at the same moment: each gets one, and all differ. The workers go on
// until all have one, so that nobody gets a ref that another gave back.
func TestC06_ManyClaimersOneList(t *testing.T) {
	t.Parallel()
	const many = 20
	dir := t.TempDir()
	args := []string{"run", "--any"}
	for i := range many {
		args = append(args, fmt.Sprintf("octo-org/octo-repo#%d", i+1))
	}
	args = append(args, "--", "sh", "-c",
		`mkdir got-$ONESLOT_RUN; printf %s "$ONESLOT_REF"; until [ -e go ]; do sleep 0.1; done`)

	var wg sync.WaitGroup
	var mu sync.Mutex
	var refs []string
	for range many {
		wg.Go(func() {
			var out, errs bytes.Buffer
			cmd := oneslot(dir, args...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			mu.Lock()
			defer mu.Unlock()
			refs = append(refs, out.String())
			if err != nil || errs.Len() > 0 {
				t.Errorf("a claimer went away empty-handed: %v\n%s", err, errs.String())
			}
		})
	}
	deadline := time.Now().Add(2 * patience)
	for started := 0; started < many; time.Sleep(20 * time.Millisecond) {
		got, err := filepath.Glob(filepath.Join(dir, "got-*"))
		if err != nil {
			t.Fatal(err)
		}
		if started = len(got); time.Now().After(deadline) {
			t.Errorf("only %d of %d have started", started, many)
			break
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	slices.Sort(refs)
	if n := len(slices.Compact(slices.Clone(refs))); n != many {
		t.Errorf("%d different refs for %d claimers: %s", n, many, strings.Join(refs, " "))
	}
}

// TestC02_OneStart: callers that ask for the same slot at the same moment, in
// whatever order they come through, lead to one start. The others are told who
// has it.
func TestC02_OneStart(t *testing.T) {
	t.Parallel()
	const many = 8
	dir := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range many {
		wg.Go(func() {
			cmd := oneslot(dir, "run", "octo-org/octo-repo#36", "--", "sh", "-c",
				`mkdir start-$ONESLOT_RUN; until [ -e go ]; do sleep 0.05; done`)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			err := cmd.Run()
			if err == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if refused++; exitOf(err) != 75 || !strings.Contains(errs.String(), "is held by sh (supervisor pid ") {
				t.Errorf("refused with %v\n%s", err, errs.String())
			}
			if refused == many-1 {
				if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	starts, err := filepath.Glob(filepath.Join(dir, "start-*"))
	if err != nil || len(starts) != 1 || refused != many-1 {
		t.Errorf("%d starts, %d refused: %v", len(starts), refused, err)
	}
}
