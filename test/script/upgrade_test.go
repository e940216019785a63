package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two builds on one store. A supervisor of the older program goes on, renews
// and settles beside a newer program that only adds to the schema; one that
// breaks it is refused while the older one runs, and names it.
func TestUpgrade_UnderARunningSupervisor(t *testing.T) {
	for _, tt := range []struct {
		tag  string
		code int
	}{{"oneslot_next", 0}, {"oneslot_breaking", 69}} {
		t.Run(tt.tag, func(t *testing.T) {
			newer := filepath.Join(t.TempDir(), "oneslot")
			if out, err := exec.Command("go", "build", "-tags", tt.tag, "-o", newer, "../../cmd/oneslot").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			home := t.TempDir()
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
			proceed := filepath.Join(home, "proceed")
			// The worker renews through its supervisor, then waits for us.
			script := fmt.Sprintf(`%s renew && echo renewed && while [ ! -e %s ]; do sleep 0.05; done && %[1]s renew`,
				filepath.Join(program, "oneslot"), proceed)
			older := exec.Command(filepath.Join(program, "oneslot"), "run", "--ttl", "2s", "o/r#1", "--", "sh", "-c", script)
			older.Env = env
			var said bytes.Buffer
			older.Stderr = &said
			out, err := older.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := older.Start(); err != nil {
				t.Fatal(err)
			}
			defer older.Process.Kill() //nolint:errcheck // it has ended if all is well
			if word := read(t, out, len("renewed")); !strings.HasPrefix(word, "renewed") {
				t.Fatalf("the older program's worker said %q", word)
			}

			cmd := exec.Command(newer, "run", "o/r#2", "--", "true")
			cmd.Env = env
			answer, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != tt.code {
				t.Fatalf("the newer program: %v, want exit %d\n%s", err, tt.code, answer)
			}
			if tt.code != 0 && !strings.Contains(string(answer), "o/r#1") {
				t.Errorf("the refusal does not name who is in the way:\n%s", answer)
			}
			if err := os.WriteFile(proceed, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := older.Wait(); err != nil {
				t.Fatalf("the older program: %v\n%s", err, said.String())
			}
			// Nothing is in the way any more.
			cmd = exec.Command(newer, "run", "o/r#1", "--", "true")
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the newer program afterwards: %v\n%s", err, out)
			}
		})
	}
}

func read(t *testing.T, r interface{ Read([]byte) (int, error) }, n int) string {
	t.Helper()
	buf := make([]byte, 0, n)
	for len(buf) < n {
		b := make([]byte, n-len(buf))
		k, err := r.Read(b)
		if err != nil {
			break
		}
		buf = append(buf, b[:k]...)
	}
	return string(buf)
}
