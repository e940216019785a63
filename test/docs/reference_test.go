package docs

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// help is what the program says of itself.
func help(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, append(args, "--help")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	verbLine   = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)
	flagLine   = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[a-z-]+)`)
	flagNamed  = regexp.MustCompile("`(--[a-z][a-z-]*)")
	codeLine   = regexp.MustCompile(`(?m)^  (\d+)  +\S`)
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// The reference names each verb with all of its flags, and no others.
func TestReferenceIsComplete(t *testing.T) {
	page := read(t, "docs/reference.md")
	verbs, _, _ := strings.Cut(help(t), "\nFlags:")
	all := verbLine.FindAllStringSubmatch(verbs, -1)
	if len(all) < 15 {
		t.Fatalf("only %d verbs: %v", len(all), all)
	}
	exits, _, _ := strings.Cut(page, "## Verbs")
	for _, m := range all {
		verb := m[1]
		if verb == "help" {
			continue
		}
		_, section, ok := strings.Cut(page, "\n### "+verb+"\n")
		if !ok {
			t.Errorf("there is no section on %s", verb)
			continue
		}
		section = regexp.MustCompile(`(?m)^##`).Split(section, 2)[0]
		text := help(t, verb)
		if below := map[string]string{"config": "show", "rules": "test"}[verb]; below != "" {
			text += help(t, verb, below)
		}
		var flags []string
		for chunk := range strings.SplitSeq(text, "\n\n") {
			if !strings.HasPrefix(chunk, "Flags:") {
				continue
			}
			for _, f := range flagLine.FindAllStringSubmatch(chunk, -1) {
				if f[2] == "--help" {
					continue
				}
				flags = append(flags, f[2])
				if !strings.Contains(section, "`"+f[2]) || f[1] != "" && !strings.Contains(section, "`"+f[1]+"`") {
					t.Errorf("%s: the reference does not name %s %s", verb, f[1], f[2])
				}
			}
		}
		first, _, _ := strings.Cut(section, "\n\n|")
		for _, f := range flagNamed.FindAllStringSubmatch(section, -1) {
			known := slices.Contains(flags, f[1]) || f[1] == "--ttl" || f[1] == "--force"
			if !known {
				t.Errorf("%s: the reference names %s, which is no flag of it:%s", verb, f[1], first)
			}
		}
		for _, code := range codeLine.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`\b` + code[1] + `\b`).MatchString(exits) {
				t.Errorf("%s: exit code %s is not in the table", verb, code[1])
			}
		}
	}
}

// The reference names each setting that is in effect.
func TestReferenceNamesSettings(t *testing.T) {
	// A file that sets each key there is, as the parser's own tests have it.
	all := filepath.Join(root, "internal", "config", "testdata", "good-daemon.toml")
	cmd := exec.Command(program, "config", "show", "--config", all)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	page, n := read(t, "docs/reference.md"), 0
	for line := range strings.Lines(string(out)) {
		key, _, _ := strings.Cut(line, " ")
		if key == "KEY" || key == "" {
			continue
		}
		key = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(key, "")
		if n++; !strings.Contains(page, "`"+key+"`") {
			t.Errorf("the reference does not name the setting %s", key)
		}
	}
	if n < 60 {
		t.Errorf("only %d settings: %s", n, out)
	}
}

// The reference names each variable that a worker is given, and no others.
func TestReferenceNamesVariables(t *testing.T) {
	home := t.TempDir()
	cmd := exec.Command(program, "run", "key:x", "--", "env")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ONESLOT_HOST=host-a"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(read(t, "docs/reference.md"), "## The worker's environment")
	section, _, _ = strings.Cut(section, "`ONESLOT_STORE`")
	given := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, "ONESLOT_") && name != "ONESLOT_HOST" {
			given[name] = true
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("the reference does not name %s", name)
			}
		}
	}
	for _, m := range regexp.MustCompile("`(ONESLOT_[A-Z]+)`").FindAllStringSubmatch(section, -1) {
		if !given[m[1]] {
			t.Errorf("the reference names %s, which a worker is not given", m[1])
		}
	}
}

// Links between pages lead somewhere.
func TestLinks(t *testing.T) {
	for _, name := range pages(t) {
		for _, m := range linkTarget.FindAllStringSubmatch(read(t, name), -1) {
			u, err := url.Parse(m[1])
			if err != nil || u.Scheme != "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), u.Path)); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
			}
		}
	}
}

// The race of README would see two workers: with a gate that lets everybody
// through it fails.
func TestTwoDispatchersWithoutAGate(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "oneslot")
	code := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(gate, []byte(code), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{program: true, gate: false} {
		cmd := exec.Command("sh", filepath.Join(root, "examples", "two-dispatchers", "race.sh"), "3")
		cmd.Env = append(os.Environ(), "ONESLOT="+name, "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%s: %v\n%s", filepath.Base(name), err, out)
		}
	}
}
