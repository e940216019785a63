package gate

import (
	"strconv"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func FuzzParsePID(f *testing.F) {
	for _, s := range []string{"1\n", " 42 \nx", "", "0", "-1", "+1", "0x10", "1_0", "2147483648", "\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pid, err := parsePID(text)
		if err == nil && (pid < 1 || pid > 1<<31-1 || !strings.Contains(string(text), strconv.Itoa(pid))) {
			t.Errorf("%q is %d", text, pid)
		}
	})
}

// No answer of an engine makes anything but a list in which each has a state.
func FuzzParseContainers(f *testing.F) {
	for _, s := range []string{`[]`, `null`, `{}`, `[{"Names":["/a"],"State":"running","Labels":{"a":"b"}}]`, `[{"Names":null,"State":""}]`, `[] []`, `[{"State":1}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseContainers(strings.NewReader(text))
		if err != nil {
			return
		}
		if list == nil || !strings.HasPrefix(strings.TrimSpace(text), "[") {
			t.Errorf("%q is a list", text)
		}
		for _, c := range list {
			if held, known := containerHeld(c.State); held && !known || c.State == "" {
				t.Errorf("%+v", c)
			}
			c.anyName(func(name string) bool { return name == c.name() })
		}
	})
}

func FuzzParseHoldUnit(f *testing.F) {
	f.Add("run", "slug", "/state dir", "boot:1:2:3")
	f.Add("", "--run", ":", "b:1:0:3")
	f.Fuzz(func(t *testing.T, id, slug, state, supervisor string) {
		run, err := ParseHoldUnit([]string{"--run", id, "--slug", slug, "--state", state, "--supervisor", supervisor})
		if err != nil {
			return
		}
		again, err := ParseHoldUnit(holdUnitArgs(run)[1:])
		if err != nil || again != run || run.Supervisor.PID < 1 {
			t.Errorf("%+v comes back as %+v, %v", run, again, err)
		}
	})
}

// C50: also the states that an engine is in too shortly to be met there.
func TestC50_ContainerStates(t *testing.T) {
	for state, want := range map[string][2]bool{
		"created": {true, true}, "running": {true, true}, "paused": {true, true}, "restarting": {true, true}, "removing": {true, true},
		"exited": {false, true}, "dead": {false, true}, "": {false, false}, "up": {false, false},
	} {
		if held, known := containerHeld(state); held != want[0] || known != want[1] {
			t.Errorf("%q: held %v, known %v", state, held, known)
		}
	}
}

// C47: also the states of newer managers.
func TestC47_UnitStateWords(t *testing.T) {
	for state, want := range map[string][2]bool{
		"active": {true, true}, "reloading": {true, true}, "refreshing": {true, true}, "activating": {true, true},
		"deactivating": {true, true}, "maintenance": {true, true}, "inactive": {false, true}, "failed": {false, true}, "": {false, false},
	} {
		if held, known := unitState(state); held != want[0] || known != want[1] {
			t.Errorf("%q: held %v, known %v", state, held, known)
		}
	}
}

// What belongs to one number never matches what belongs to another, and whatever a
// pattern matches for a ref is in its wide list.
func FuzzPattern(f *testing.F) {
	f.Add("bob-pm-*-slot-{dashed}.service", "github.com/octo/hello#1", "bob-pm-x-slot-octo-hello-15.service")
	f.Add(`a\x2d{number}[!x]?`, "gitlab.com/g/s/p!5", `a\x2d5yz`)
	f.Add("{ref}", "key:a*b", "x")
	f.Fuzz(func(t *testing.T, text, name, unit string) {
		p, err := newPattern(text, unitEscape)
		if err != nil {
			return
		}
		r, err := slot.ParseCanonical(name)
		if err != nil {
			return
		}
		match, err := p.match(r, "abc")
		if err != nil {
			return
		}
		if match(unit) && !fits(globs(p.wide("*")), unit) {
			t.Errorf("%q of %s matches %q, which its list %q lacks", text, r, unit, p.wide("*"))
		}
		if strings.ContainsAny(text, "*?[") {
			return
		}
		// Without marks in the configured text there is one name, whatever the ref.
		exact, err := slot.ExpandFunc(text, r, "abc", unitEscape)
		if exact, unit = strings.ToLower(exact), strings.ToLower(unit); err == nil && match(unit) && exact != unit {
			t.Errorf("%q of %s matches %q", text, r, unit)
		}
	})
}

func TestPatternsNameOneRef(t *testing.T) {
	p, err := newPattern("w-*-{dashed}.service", unitEscape)
	if err != nil {
		t.Fatal(err)
	}
	r, err := slot.ParseCanonical("github.com/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	match, err := p.match(r, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"w-a-octo-hello-1.service": true, "w-a-Octo-Hello-1.service": true, "w--octo-hello-1.service": true,
		"w-a-octo-hello-15.service": false, "w-a-octo-hello-11.service": false, "w-a-octo-hello-1.timer": false, "x-w-a-octo-hello-1.service": false,
	} {
		if match(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if w := p.wide("*"); w != "w-*-*.service" {
		t.Errorf("the list is %q", w)
	}
	if w := p.regexp(); w != `(?i)^/?w-.*-.*\.service$` {
		t.Errorf("the engine's is %q", w)
	}
}

// A value is a name's part, whatever is in it (P12).
func TestUnitEscape(t *testing.T) {
	for in, want := range map[string]string{
		"a-b.c_1":   "a-b.c_1",
		"g/s":       "g-s",
		"a b*[%$\\": `a\x20b\x2a\x5b\x25\x24\x5c`,
		"é":         `\xc3\xa9`,
	} {
		if got := unitEscape(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	if got := unitOf("/org/freedesktop/systemd1/unit/bob_2dpm_2ex_5f1_2eservice"); got != "bob-pm.x_1.service" {
		t.Errorf("the unit is %q", got)
	}
	for in, want := range map[string]string{"a": "a.service", "a.b": "a.b.service", "a.timer": "a.timer", "a-*": "a-*.service", "a.*": "a.*"} {
		if got := unitName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
