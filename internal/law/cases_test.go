package law

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// caseName is how tests and comments name a case: in a word of its own, or as the
// start of a test's name.
var caseName = regexp.MustCompile(`\b(?:Test)?(C\d\d)(?:\b|_)`)

// Each case that is named is on the page of cases, once.
func TestCasesAreListed(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (C\d\d) \| [^|]+ \| [^|]+ \|$`).FindAllStringSubmatch(string(page), -1) {
		if listed[m[1]] {
			t.Errorf("%s is listed twice", m[1])
		}
		listed[m[1]] = true
	}
	if rows := strings.Count(string(page), "\n| C"); rows != len(listed) || rows < 60 {
		t.Errorf("%d rows, %d of them well formed and different", rows, len(listed))
	}
	named := 0
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".txtar"):
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		for _, m := range caseName.FindAllStringSubmatch(string(text), -1) {
			if named++; !listed[m[1]] {
				t.Errorf("%s names %s, which docs/cases.md does not list", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if named < 100 {
		t.Errorf("only %d cases are named: is this the project?", named)
	}
}
