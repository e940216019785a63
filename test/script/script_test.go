package script

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// program is the folder of the binary under test.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oneslot-script-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "oneslot"), "../../cmd/oneslot")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	program = dir
	return m.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		Setup:               setup,
		Cmds:                commands(),
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// condition is without:PROGRAM, for what this machine lacks; where a skip counts as
// a failure, it is one.
func condition(cond string) (bool, error) {
	program, ok := strings.CutPrefix(cond, "without:")
	if !ok {
		return false, fmt.Errorf("there is no condition %q", cond)
	}
	_, err := exec.LookPath(program)
	if err != nil && os.Getenv("ONESLOT_NO_SKIP") != "" {
		return false, err
	}
	return err != nil, nil
}

// setup gives each script a home, and an environment with nothing of ours.
func setup(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("PATH", program+string(os.PathListSeparator)+os.Getenv("PATH"))
	e.Setenv("BIN", filepath.Join(program, "oneslot"))
	e.Setenv("STATE", filepath.Join(home, ".local", "state", "oneslot"))
	e.Setenv("ONESLOT_HOST", "host-a")
	e.Setenv("ONESLOT_LISTEN", "unix:"+filepath.Join(e.WorkDir, daemonSocket))
	payloads, err := filepath.Abs("../../internal/intake/hook/testdata")
	if err != nil {
		return err
	}
	e.Setenv("PAYLOADS", payloads)
	e.Values[forgeKey] = &scriptForge{}
	e.Setenv("NO_COLOR", "1")
	e.Setenv("TZ", "UTC")
	return nil
}
