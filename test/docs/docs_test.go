package docs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const root = "../.."

// program is the path of the binary under test.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oneslot-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "oneslot")
	build := exec.Command("go", "build", "-o", program, root+"/cmd/oneslot")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as released; containers have no libraries for it
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	return m.Run()
}

// Every command of every page is run.
func TestPages(t *testing.T) {
	for _, name := range pages(t) {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			list, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, name, list)
		})
	}
}

// pages lists all pages of the project.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md"):
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"README.md", "CONTRIBUTING.md", "docs/reference.md", "docs/recipes.md"} {
		if !slices.Contains(list, must) {
			t.Fatalf("there is no %s among %v", must, list)
		}
	}
	return list
}

// pageTime bounds one page. Nothing on a page waits long; a page that builds
// something may.
const pageTime = 10 * time.Minute

// runPage runs a page's shell blocks in one shell, and looks at the others.
func runPage(t *testing.T, name string, list []block) {
	w := newWorld(t)
	var script strings.Builder
	script.WriteString("set -e\n")
	var due []int
	for i, b := range list {
		at := fmt.Sprintf("%s:%d", name, b.line)
		switch b.lang {
		case "sh", "cron":
			if b.needs == "systemd" {
				if err := w.systemd(t); err != nil {
					t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) { missing(t, at, "a systemd of the user's: "+err.Error()) })
					continue
				}
			}
			due = append(due, i)
			code := b.text
			if b.lang == "cron" {
				code = asCron(t, at, b.text)
			}
			code = w.here(code)
			fmt.Fprintf(&script, "exec >'%s' 2>&1\n%s\necho %d >>'%s'\n", w.out(i), code, i, w.progress)
		case "toml":
			w.checkConfig(t, at, b.text)
		case "ini":
			checkPackaged(t, at, b.text)
		case "go":
			checkExample(t, at, b.text)
		}
	}
	if len(due) == 0 {
		return
	}
	err := w.sh(script.String())
	data, _ := os.ReadFile(w.progress)
	done := strings.Fields(string(data))
	for n, i := range due {
		at, printed := fmt.Sprintf("%s:%d", name, list[i].line), w.printed(i)
		if n >= len(done) {
			t.Fatalf("%s: the block failed (%v), and those after it were not run:\n%s--- it printed\n%s", at, err, list[i].text, printed)
		}
		if shown := list[i].shows; shown != nil && !alike(w.here(*shown), printed) {
			t.Errorf("%s: the page shows\n%s--- but it printed\n%s", at, *shown, printed)
		}
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// world is what a page's commands see: a home, a copy of the project to stand
// in, and the program first in PATH.
type world struct {
	dir, home, progress string
	listen              string // of a daemon on this page, in place of the usual address
	forge               string // the address of the page's forge
	env                 []string
	manager             func() error // starts a systemd of the user's, once
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "oneslot-page-") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
	w := &world{dir: dir, home: filepath.Join(dir, "home"), progress: filepath.Join(dir, "progress")}
	bin := filepath.Join(w.home, "go", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "oneslot"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	copyProject(t, filepath.Join(dir, "oneslot"))
	w.listen = freeAddress(t)
	forge, token := startForge(t)
	w.forge = forge
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !regexp.MustCompile(`^(ONESLOT_.*|XDG_.*|DBUS_.*|CI|.*_CI|GITHUB_.*|GITLAB_.*|.*_BUILD.*|BUILD.*|JENKINS.*|TEAMCITY.*)$`).MatchString(name) {
			w.env = append(w.env, kv)
		}
	}
	w.env = append(w.env, goSettings(t)...)
	w.env = append(w.env,
		"HOME="+w.home, "PATH="+bin+":"+os.Getenv("PATH"), "GOPATH="+filepath.Join(w.home, "go"),
		"TZ=UTC", "NO_COLOR=1", "ONESLOT_HOST=host-a", "ONESLOT_LISTEN="+w.listen,
		"FORGEJO_TOKEN="+token,
		// README's test command stands on a page, too: there it runs a part.
		"ONESLOT_TEST_PACKAGES=./internal/slot",
	)
	return w
}

// freeAddress is one of loopback that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// here puts the page's own addresses in place of the usual ones: pages are tried side
// by side.
func (w *world) here(text string) string {
	return strings.NewReplacer("127.0.0.1:7180", w.listen, forgeAddress, w.forge).Replace(text)
}

// goSettings keeps the go tool as it is under another HOME.
func goSettings(t *testing.T) []string {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOFLAGS", "GOTOOLCHAIN"}
	out, err := exec.Command("go", append([]string{"env", "-json"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]string
	if err := json.Unmarshal(out, &values); err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, name := range names {
		env = append(env, name+"="+values[name])
	}
	return env
}

// copyProject copies the sources, so that a page's commands change nothing here.
func copyProject(t *testing.T, to string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, path)
		switch {
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > 4<<20 { // a program somebody built here
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) out(i int) string { return filepath.Join(w.dir, fmt.Sprintf("out.%d", i)) }

func (w *world) printed(i int) string {
	data, err := os.ReadFile(w.out(i))
	if err != nil {
		return "(nothing: " + err.Error() + ")"
	}
	return string(data)
}

// sh runs a script, and ends what it leaves running.
func (w *world) sh(script string) error {
	file := filepath.Join(w.dir, "page.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return err
	}
	cmd := exec.Command("sh", file)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, "oneslot"), w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(pageTime, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }) //nolint:errcheck
	defer late.Stop()
	err := cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // usually nobody is left
	return err
}

// checkConfig has the program read a configuration.
func (w *world) checkConfig(t *testing.T, at, text string) {
	t.Helper()
	file := filepath.Join(w.dir, "page.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config", file, "config", "show")
	cmd.Env = w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", at, err, out)
	}
}

// asCron is shell code that runs each line's command as cron would: nothing but
// HOME, SHELL and a short PATH around it. It must be silent and end 0, also
// while somebody else holds the slot.
func asCron(t *testing.T, at, text string) string {
	t.Helper()
	line := regexp.MustCompile(`^(?:\S+ +){5}(.*?(\S+#\d+).*)$`)
	code := ""
	for l := range strings.Lines(text) {
		m := line.FindStringSubmatch(strings.TrimSpace(l))
		if m == nil || strings.ContainsAny(m[1], "'%") {
			t.Fatalf("%s: not a line for cron with a ref in it: %s", at, l)
		}
		run := fmt.Sprintf("out=$(env -i HOME=\"$HOME\" SHELL=/bin/sh PATH=/usr/bin:/bin /bin/sh -c '%s' 2>&1)\n[ -z \"$out\" ] || { echo \"cron would send mail: $out\"; exit 1; }\n", m[1])
		code += run + fmt.Sprintf("key=$(oneslot claim '%s' --export)\n", m[2]) + run + "(eval \"$key\"; oneslot release -q)\n"
	}
	return code
}

// checkPackaged wants a page to show a packaged file as it is.
func checkPackaged(t *testing.T, at, text string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(filepath.Join(root, "packaging"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found = found || string(data) == text
		return err
	})
	if err != nil || !found {
		t.Errorf("%s: this is no file below packaging (%v):\n%s", at, err, text)
	}
}

// checkExample wants Go code of a page to be that of a compiled example.
func checkExample(t *testing.T, at, text string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if !strings.Contains(squeeze(string(data)), squeeze(text)) {
		t.Errorf("%s: this is in no example of example_test.go:\n%s", at, text)
	}
}

// missing skips with one clear line; where everything must be there it fails.
func missing(t *testing.T, at, what string) {
	t.Helper()
	if os.Getenv("ONESLOT_NO_SKIP") != "" {
		t.Fatalf("%s: needs %s", at, what)
	}
	t.Skipf("%s: needs %s", at, what)
}
