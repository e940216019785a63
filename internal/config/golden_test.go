package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGolden reads each testdata/*.toml. Beside a good one stand its settings,
// beside a bad one all its problems. UPDATE_GOLDEN=1 writes these files anew.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w.ConfigFlag = w.write(t, "etc/oneslot.toml", string(data))
			got, bad := outcome(Load(w.Sources))
			if bad != strings.HasPrefix(name, "bad-") {
				t.Errorf("problems: %v", bad)
			}
			got = strings.ReplaceAll(got, w.root, "")
			wantFile := strings.TrimSuffix(file, ".toml") + ".want"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error("(-want +got)\n" + diff)
			}
		})
	}
}

func outcome(c *Config, err error) (text string, bad bool) {
	var p *Problems
	if errors.As(err, &p) {
		return p.Error() + "\n", true
	}
	var b strings.Builder
	for _, e := range c.Entries() {
		fmt.Fprintf(&b, "%s = %s (%s)\n", e.Key, e.Value, e.Origin)
	}
	return b.String(), false
}
