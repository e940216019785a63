package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

type command = func(ts *testscript.TestScript, neg bool, args []string)

// commands are what scripts can do beside testscript's own.
func commands() map[string]command {
	return map[string]command{
		// code N CMD...: run CMD; it must exit with N.
		"code": code,
		// until N CMD...: run CMD again and again until it exits with N.
		"until": until,
		// appears FILE...: wait until the files exist.
		"appears": appears,
		// json FILE PATH VALUE: the value at the dotted path, as JSON writes it
		// (strings without quotes). FILE may be stdout or stderr.
		"json": jsonAt,
		// setjson VAR FILE PATH: put a value into an environment variable.
		"setjson": setJSON,
		// setline VAR FILE: put a file's first line into a variable.
		"setline": setLine,
		// serving: wait until a daemon of this script answers.
		"serving": serving,
		// deliver STATUS HOOK HEADERS BODY [SECRET]: send a webhook delivery.
		"deliver": deliver,
		// get PATH: ask the daemon's API; the answer goes to the file "answer".
		"get": get,
		// forge KIND, world VERB...: a forge, and what happens there. See forge_test.go.
		"forge": startForge,
		"world": world,
	}
}

// patience bounds every wait for a condition.
const patience = 20 * time.Second

func exitOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD...")
	}
	if got := exitOf(ts.Exec(args[1], args[2:]...)); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until N CMD...")
	}
	last := -1
	poll(ts, func() bool {
		last = exitOf(ts.Exec(args[1], args[2:]...))
		return strconv.Itoa(last) == args[0]
	}, func() string { return fmt.Sprintf("exit code %d, want %s", last, args[0]) })
}

func appears(ts *testscript.TestScript, neg bool, args []string) {
	for _, f := range args {
		poll(ts, func() bool {
			_, err := os.Stat(ts.MkAbs(f))
			return (err == nil) != neg
		}, func() string { return f })
	}
}

func poll(ts *testscript.TestScript, ok func() bool, what func() string) {
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("waited in vain: %s", what())
		}
	}
}

func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	got := valueAt(ts, args[0], args[1])
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %s; %s given", args[1], got, args[2])
	}
}

func setJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: setjson VAR FILE PATH")
	}
	ts.Setenv(args[0], valueAt(ts, args[1], args[2]))
}

func setLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: setline VAR FILE")
	}
	line, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	ts.Setenv(args[0], line)
}

// valueAt reads one value; "-" as the last part is the number of elements.
func valueAt(ts *testscript.TestScript, file, path string) string {
	var v any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	dec.UseNumber()
	ts.Check(dec.Decode(&v))
	if dec.More() {
		ts.Fatalf("%s has more than one JSON value", file)
	}
	for _, part := range strings.Split(path, ".") {
		v = step(ts, v, part)
	}
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	ts.Check(err)
	return string(b)
}

func step(ts *testscript.TestScript, v any, part string) any {
	switch v := v.(type) {
	case map[string]any:
		got, ok := v[part]
		if !ok {
			ts.Fatalf("there is no field %q", part)
		}
		return got
	case []any:
		if part == "-" {
			return len(v)
		}
		i, err := strconv.Atoi(part)
		if err != nil || i >= len(v) {
			ts.Fatalf("there is no element %s of %d", part, len(v))
		}
		return v[i]
	}
	ts.Fatalf("nothing has a field %q here", part)
	return nil
}
