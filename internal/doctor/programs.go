package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oneslot/oneslot/internal/config"
)

// programs looks for what rules and gates start (C54).
func programs(_ context.Context, s *Subject, r *report) {
	if s.Config == nil {
		return
	}
	path, _ := s.Env("PATH")
	missing, n := Programs(s.Config, path)
	for _, m := range missing {
		r.bad("program-missing", "%s", m)
	}
	if len(missing) == 0 {
		r.good("%d that rules and gates start, all found", n)
	}
}

// Programs looks for the n programs that a configuration starts, with that PATH. It
// tells of each that is missing who starts it, where that is said, and why.
func Programs(cfg *config.Config, path string) (missing []string, n int) {
	look := func(who string, argv config.Value[[]string]) {
		if len(argv.V) == 0 || strings.Contains(argv.V[0], "{") {
			return // a placeholder is known only with the ref
		}
		n++
		if err := find(cfg, path, argv.V[0]); err != nil {
			missing = append(missing, fmt.Sprintf("%s (%s): %s %v", who, argv.Origin, argv.V[0], err))
		}
	}
	look("[worker]", cfg.Worker.Run)
	for _, rule := range cfg.Rules {
		look("rule "+rule.Name.V, rule.Run)
	}
	for _, g := range cfg.GatesInForce() {
		look("gate "+g.Type.V, g.Run)
	}
	return missing, n
}

// find looks for a program as a start would: by PATH, or from the folder of the
// configuration.
func find(cfg *config.Config, path, name string) error {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(cfg.File), name)
		}
		return executable(name)
	}
	for _, dir := range filepath.SplitList(path) {
		if dir != "" && executable(filepath.Join(dir, name)) == nil {
			return nil
		}
	}
	return errors.New("is not in PATH, which is " + path + " here")
}

func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("is not there")
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a folder")
	case info.Mode().Perm()&0o111 == 0:
		return errors.New("is not executable")
	}
	return nil
}
