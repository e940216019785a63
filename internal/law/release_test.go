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
	"time"
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

// initMax is the longest that one package's start may take. A loaded machine
// can only make it look longer, so the best of several starts counts.
const initMax = time.Millisecond

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// Nothing heavy happens before main.
func TestNoSlowInit(t *testing.T) {
	bin := build(t, host(t))
	best := map[string]time.Duration{}
	for range 10 {
		cmd := exec.Command(bin, "version")
		cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Duration(ms * float64(time.Millisecond))
			if b, ok := best[m[1]]; !ok || took < b {
				best[m[1]] = took
			}
		}
	}
	if len(best) < 5 {
		t.Fatalf("only %d packages were traced: %v", len(best), best)
	}
	for pkg, took := range best {
		if took > initMax {
			t.Errorf("init of %s takes %s", pkg, took)
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
