package law

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/oneslot/oneslot"

// imports is the import law: each package of ours, what of ours it may import,
// and why it is so. A pattern ends in "/*" and stands for all packages below.
// What a test imports is not law, but nobody imports a test's package.
var imports = []struct {
	pkg, may, why string
}{
	// The words, and the small things that stand on nothing.
	{"internal/slot", "", "words do no work and depend on nobody"},
	{"internal/clock", "", "time is given to whoever judges by it"},
	{"internal/failpoint", "internal/clock", "it marks moments and shifts a clock; in a release it is empty"},
	{"internal/proc", "internal/slot internal/clock", "it sees processes and knows no claims"},
	{"internal/origin", "internal/slot", "it asks git for an address and nothing else"},
	{"internal/rule", "internal/slot internal/queue internal/config", "it reads rules and events, and starts nothing"},
	{"internal/config", "internal/slot", "it reads settings and opens nothing that they name"},
	{"internal/rundir", "internal/slot", "it is files; what they mean is for others"},

	// The gate, and where it is kept.
	{"internal/claim", "internal/slot internal/clock internal/failpoint", "the rules of claiming know no database and start no process"},
	{"internal/queue", "internal/slot", "the rules of work items know no database and start nothing"},
	{"internal/store/*", "internal/slot internal/claim internal/queue internal/clock internal/proc internal/failpoint", "a store serves the gate, and never knows another store"},

	{"internal/wire", "internal/slot internal/claim internal/queue", "it gives the words a shape, and does nothing with them"},
	{"internal/store/remote", "internal/slot internal/clock internal/claim internal/queue internal/wire", "a client of the API knows its shapes alone, never its server"},

	// What is read of a forge, and written to it.
	{"internal/markup", "", "it reads texts, and knows nothing of forges"},
	{"internal/closing", "internal/slot internal/markup", "it reads what a text closes, and asks nobody"},
	{"internal/forge", "internal/slot", "words of forges; they do no work"},
	{"internal/forge/transport", "internal/slot internal/clock internal/forge", "it carries requests, and knows no forge"},
	{"internal/forge/transport/token", "internal/clock internal/forge internal/forge/transport", "it gets tokens, and knows no request but its own"},
	{"internal/forge/github", "internal/slot internal/clock internal/forge internal/forge/transport", "a client knows its own forge alone"},
	{"internal/forge/gitea", "internal/slot internal/clock internal/forge internal/forge/transport", "as the others"},
	{"internal/forge/gitlab", "internal/slot internal/clock internal/forge internal/forge/transport", "as the others"},
	{"internal/names", "internal/slot internal/clock internal/forge", "it translates names between slots and forges, and starts nothing"},
	{"internal/reserve", "internal/slot internal/clock internal/forge internal/markup internal/failpoint", "the protocol sees a conversation, and neither claims nor queues"},
	{"internal/ticket", "internal/slot internal/clock internal/forge internal/markup", "it shows a state, and starts nothing"},

	// What stands on the gate.
	{"internal/gate", "internal/slot internal/clock internal/proc internal/rundir internal/forge internal/closing internal/markup", "a gate looks at the world, and knows neither claims nor queues"},
	{"internal/metrics", "internal/slot internal/queue", "it counts, and changes nothing"},
	{"internal/told", "internal/slot internal/queue", "it writes down what a worker is told"},
	{"internal/standby", "internal/slot internal/claim internal/proc internal/failpoint", "it starts supervisors, and knows nothing of why"},
	{"internal/dispatch", "internal/slot internal/claim internal/queue internal/gate internal/standby internal/clock internal/failpoint", "the one path knows no store, no forge and no trigger"},
	{"internal/supervise", "internal/slot internal/claim internal/clock internal/proc internal/rundir internal/failpoint", "a run sees its store through the gate's interface alone"},
	{"internal/ending", "internal/slot internal/claim internal/proc internal/rundir internal/supervise", "it ends runs through the gate's interface, and knows no store, no queue and no forge"},
	{"internal/doctor", "internal/slot internal/claim internal/queue internal/clock internal/proc internal/rundir internal/config", "it looks at what it is given, so that tests can give it a broken world"},

	// How wishes come in.
	{"internal/intake/mark", "internal/slot", "how an event is told from others, by whatever path it came"},
	{"internal/intake/poll", "internal/slot internal/clock internal/forge internal/markup internal/intake/mark", "it finds what needs attention, and hands it to whoever keeps it"},
	{"internal/intake/hook", "internal/slot internal/markup internal/intake/mark", "it reads deliveries, and hands them to whoever keeps them"},
	{"internal/api", "internal/slot internal/claim internal/queue internal/wire internal/clock", "it serves what it is given, and opens and starts nothing"},

	// Where it is put together.
	{"internal/app", "internal/slot internal/claim internal/ending internal/names internal/clock internal/config internal/origin internal/proc internal/rundir internal/supervise internal/failpoint internal/store/* internal/queue internal/rule internal/gate internal/intake/* internal/dispatch internal/standby internal/told internal/api internal/wire internal/metrics internal/forge internal/forge/transport internal/forge/transport/token internal/forge/github internal/forge/gitea internal/forge/gitlab internal/reserve internal/ticket internal/closing", "it puts the parts together, and alone knows which stores there are"},
	{"internal/cli", "internal/app internal/slot internal/claim internal/ending internal/queue internal/gate internal/standby internal/clock internal/config internal/proc internal/rundir internal/supervise internal/doctor", "verbs use the parts and open no store themselves"},
	{"cmd/oneslot", "internal/cli", "the program is its command line"},
	{".", "internal/app internal/slot internal/claim internal/config", "the library claims and does not supervise"},

	// For tests only.
	{"internal/claim/claimtest", "internal/slot internal/claim internal/clock", "the contract suite sees stores through their interface alone"},
	{"internal/queue/queuetest", "internal/slot internal/queue internal/clock", "as the claims' suite"},
	{"internal/claim/claimtest/*", "internal/slot internal/claim internal/clock internal/claim/claimtest", "as the suite itself"},
	{"internal/forge/forgetest", "internal/slot internal/forge internal/markup", "a forge of its own, that behaves like the real ones"},
	{"internal/law", "", "rules, no code"},
	{"test/*", "internal/slot internal/forge/forgetest", "they drive the real program from outside"},
}

var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64"}

type listed struct {
	ImportPath, Name, Doc, Dir string
	Imports                    []string
	GoFiles                    []string
	DepOnly                    bool
}

// The import law holds on each platform, and each package is in its table.
func TestImportLaw(t *testing.T) {
	for _, platform := range platforms {
		t.Run(strings.ReplaceAll(platform, "/", "-"), func(t *testing.T) {
			used := map[string]bool{}
			for _, p := range packages(t, platform) {
				fault, row := judge(p)
				if used[row] = true; fault != "" {
					t.Error(fault)
				}
			}
			for _, row := range imports {
				if !used[row.pkg] && !strings.HasSuffix(row.pkg, "/*") {
					t.Errorf("%s is in the table, but there is no such package", row.pkg)
				}
			}
		})
	}
}

// judge says what is wrong with a package, and which row it goes by.
func judge(p listed) (fault, row string) {
	name := short(p.ImportPath)
	i := rowOf(name)
	if i < 0 {
		return name + " is not in the table: add a row, with what it may import and why", ""
	}
	for _, imp := range p.Imports {
		to, ours := strings.CutPrefix(imp, module)
		if !ours {
			continue
		}
		if to = short(module + to); !slices.ContainsFunc(strings.Fields(imports[i].may), func(may string) bool { return matches(may, to) }) {
			return name + " imports " + to + ": " + imports[i].why, imports[i].pkg
		}
	}
	return "", imports[i].pkg
}

// rowOf finds the row of a package: its own before a pattern.
func rowOf(name string) int {
	found := -1
	for i, row := range imports {
		if row.pkg == name {
			return i
		}
		if matches(row.pkg, name) {
			found = i
		}
	}
	return found
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// The law finds what it is there for.
func TestImportLawRefuses(t *testing.T) {
	for _, bad := range [][2]string{
		{"internal/slot", "internal/clock"},
		{"internal/claim", "internal/store/sqlite"},
		{"internal/store/sqlite", "internal/store/postgres"},
		{"internal/store/sqlite", "internal/app"},
		{"internal/cli", "internal/store/sqlite"},
		{"internal/supervise", "internal/store/sqlite"},
		{"cmd/oneslot", "internal/app"},
		{".", "internal/supervise"},
		{"internal/intake/hook", "internal/queue"},
		{"internal/intake/hook", "internal/dispatch"},
		{"internal/api", "internal/dispatch"},
		{"internal/dispatch", "internal/store/sqlite"},
		{"internal/gate", "internal/queue"},
		{"internal/nobody", "internal/slot"},
	} {
		p := listed{ImportPath: path.Join(module, bad[0]), Imports: []string{"os", module + "/" + bad[1]}}
		if fault, _ := judge(p); fault == "" {
			t.Errorf("%s may import %s", bad[0], bad[1])
		}
	}
}

// Each package says what it is for; those below internal in a doc.go.
func TestEachPackageHasADoc(t *testing.T) {
	for _, p := range packages(t, "linux/amd64") {
		switch name := short(p.ImportPath); {
		case len(p.GoFiles) == 0: // tests only
		case p.Doc == "":
			t.Errorf("%s has no package comment", name)
		case strings.HasPrefix(name, "internal/") && !slices.Contains(p.GoFiles, "doc.go"):
			t.Errorf("%s has no doc.go", name)
		}
	}
}

// Test packages and contract suites are in no binary, nor is anything that makes
// it much larger. (cobra imports text/template; the linker drops it as long as
// nobody reaches it, which the size test watches.)
func TestWhatTheProgramIsMadeOf(t *testing.T) {
	for _, platform := range platforms {
		var deps []string
		for _, p := range golist(t, platform, "-deps", "./cmd/oneslot", ".") {
			deps = append(deps, p.ImportPath)
		}
		if len(deps) < 50 {
			t.Fatalf("%s: only %d packages: is this the program?", platform, len(deps))
		}
		for _, bad := range []string{
			"testing", "html/template", "net/http/pprof", "expvar", "runtime/cgo",
			module + "/internal/claim/claimtest", module + "/internal/law",
		} {
			if slices.Contains(deps, bad) {
				t.Errorf("%s: the program contains %s", platform, bad)
			}
		}
	}
}

// packages lists all of ours.
func packages(t *testing.T, platform string) []listed {
	t.Helper()
	all := golist(t, platform, "./...")
	if len(all) < 10 {
		t.Fatalf("only %d packages: %v", len(all), all)
	}
	return all
}

func golist(t *testing.T, platform string, args ...string) []listed {
	t.Helper()
	cmd := goCommand(t, platform, append([]string{"list", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list on %s: %v", platform, err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func short(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// goCommand runs the go tool in the module's folder, without cgo.
func goCommand(t *testing.T, platform string, args ...string) *exec.Cmd {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		t.Fatalf("platform %q", platform)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
	return cmd
}
