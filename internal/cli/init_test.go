package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/config"
)

// What init writes is good as it is, and each setting that it offers is one.
func TestWhatInitWritesIsGood(t *testing.T) {
	settings := regexp.MustCompile(`(?m)^#([^ \n])`)
	all := settings.ReplaceAllString(initText, "$1")
	if n := strings.Count(initText, "\n#") - strings.Count(all, "\n#"); n < 40 {
		t.Errorf("only %d settings", n)
	}
	values := map[string]map[string]string{}
	for name, content := range map[string]string{"as it is": initText, "all set": all} {
		file := filepath.Join(t.TempDir(), "oneslot.toml")
		if err := writeNew(file, content, false); err != nil {
			t.Fatal(err)
		}
		src := config.System()
		src.Env = func(name string) (string, bool) { return map[string]string{"HOME": "/home/u"}[name], name == "HOME" }
		src.ConfigFlag = file
		c, err := config.Load(src)
		if err != nil || len(c.Warnings) > 0 {
			t.Fatal(name, err, c)
		}
		values[name] = map[string]string{}
		for _, e := range c.Entries() {
			values[name][e.Key] = e.Value
		}
	}
	// What it shows of a key without a table is the default, apart from these.
	examples := []string{"store", "worker.run", "limits.running", "limits.per_repo"}
	for key, byDefault := range values["as it is"] {
		if got := values["all set"][key]; got != byDefault && !strings.Contains(strings.Join(examples, " "), key) {
			t.Errorf("%s = %s is not the default, which is %s", key, got, byDefault)
		}
	}
}

func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "b.toml")
	if err := writeNew(file, "one", false); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(file, "two", false); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "one" {
		t.Errorf("%q %v", got, err)
	}
	if err := writeNew(file, "two", true); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "two" {
		t.Errorf("%q %v", got, err)
	}
	if err := writeNew(filepath.Join(dir, "a"), "x", true); err == nil {
		t.Error("a folder was replaced")
	}
	if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 1 {
		t.Error("left behind:", list)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}
