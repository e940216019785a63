package law

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// sizeMax is the most that the stripped program may have, in bytes.
const sizeMax = 28e6

// The program builds without cgo for each platform, is small, and has nothing of
// the tests' hooks in it.
func TestRelease(t *testing.T) {
	for _, platform := range platforms {
		t.Run(strings.ReplaceAll(platform, "/", "-"), func(t *testing.T) {
			bin := build(t, platform)
			data, err := os.ReadFile(bin)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %.1f MB", platform, float64(len(data))/1e6)
			if len(data) >= sizeMax {
				t.Errorf("%d bytes, the most is %.0f: does something reach reflect's MethodByName?", len(data), sizeMax)
			}
			if h := hooks(data); len(h) > 0 {
				t.Errorf("hooks of the tests are in the release: %s", h)
			}
			info, err := buildinfo.ReadFile(bin)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range info.Settings {
				if s.Key == "CGO_ENABLED" && s.Value != "0" || s.Key == "-tags" {
					t.Errorf("built with %s=%s", s.Key, s.Value)
				}
			}
		})
	}
}

// hooks lists what of the tests' hooks a program knows.
func hooks(program []byte) []string {
	var found []string
	for _, name := range []string{"ONESLOT_FAILPOINT", "ONESLOT_CLOCK", "oneslot_hooks", "after-claim-commit", "before-fork"} {
		if bytes.Contains(program, []byte(name)) {
			found = append(found, name)
		}
	}
	return found
}

// The search for hooks finds them where they are.
func TestHooksAreFound(t *testing.T) {
	bin := build(t, host(t), "-tags", "oneslot_hooks")
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	if len(hooks(data)) < 2 {
		t.Fatalf("a program built with hooks shows only %s", hooks(data))
	}
}

// Everything, tests too, compiles on the platforms that this one is not.
func TestEveryPlatformCompiles(t *testing.T) {
	for _, platform := range platforms {
		if platform == host(t) {
			continue
		}
		t.Run(strings.ReplaceAll(platform, "/", "-"), func(t *testing.T) {
			if out, err := goCommand(t, platform, "vet", "./...").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// What packages may allocate before main, each: others' as they are, ours next to
// nothing. How long that takes is for the benchmarks.
const (
	initMax     = 16 << 10
	initMaxOurs = 4 << 10
)

// initAllowed are libraries that build tables and patterns before main, which nobody
// can put off: a Go package has no later. They are there for what they know of each
// forge.
var initAllowed = map[string]int{
	"gitlab.com/gitlab-org/api/client-go/v2": 256 << 10,
	"code.gitea.io/sdk/gitea":                96 << 10,
	"github.com/google/go-github/v88/github": 48 << 10,
	"golang.org/x/crypto/ssh":                24 << 10, // of the Gitea library
}

// Nothing heavy happens before main.
func TestNoHeavyInit(t *testing.T) {
	initLine := regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes, \d+ allocs$`)
	cmd := exec.Command(build(t, host(t)), "version")
	cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	traced := initLine.FindAllStringSubmatch(string(out), -1)
	if len(traced) < 5 {
		t.Fatalf("only %d packages were traced: %s", len(traced), out)
	}
	for _, m := range traced {
		most := initMax
		if strings.HasPrefix(m[1], module+"/") {
			most = initMaxOurs
		}
		most = max(most, initAllowed[m[1]])
		if n, err := strconv.Atoi(m[2]); err != nil || n > most {
			t.Errorf("init of %s allocates %s bytes, %d at most", m[1], m[2], most)
		}
	}
}

// host is the platform that the tests run on.
func host(t *testing.T) string {
	t.Helper()
	return runtime.GOOS + "/" + runtime.GOARCH
}

// build makes the program as a release would have it.
func build(t *testing.T, platform string, flags ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "oneslot")
	args := append([]string{"build", "-ldflags=-s -w", "-o", bin}, flags...)
	if out, err := goCommand(t, platform, append(args, "./cmd/oneslot")...).CombinedOutput(); err != nil {
		t.Fatalf("go build on %s: %v\n%s", platform, err, out)
	}
	return bin
}
