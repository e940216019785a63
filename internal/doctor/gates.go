package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oneslot/oneslot/internal/config"
)

// peekable reports whether a gate can be asked about a ref that is nobody's. A command
// or a web address may do more than look.
func peekable(kind string) bool {
	switch kind {
	case "systemd", "docker", "podman", "process":
		return true
	}
	return false
}

// gates asks each gate whether it can find out anything at all.
func gates(ctx context.Context, s *Subject, r *report) {
	if s.Config == nil || s.Peek == nil {
		return
	}
	before := len(r.lines)
	var asked []string
	for _, g := range s.Config.GatesInForce() {
		if !peekable(g.Type.V) {
			continue
		}
		asked = append(asked, g.Type.V)
		if err := s.Peek(ctx, g); err != nil {
			r.bad("gate-blind", "%s (%s): %v; on_error is %s", g.Type.V, g.Type.Origin, err, g.OnError.V)
		}
	}
	switch {
	case len(r.lines) > before:
	case len(asked) == 0:
		r.good("none that looks at what others do on this host")
	default:
		r.good("%s can be asked", strings.Join(asked, ", "))
	}
}

// programs looks for what rules and gates start (C54).
func programs(_ context.Context, s *Subject, r *report) {
	if s.Config == nil {
		return
	}
	before, n := len(r.lines), 0
	look := func(who string, argv config.Value[[]string]) {
		if len(argv.V) == 0 || strings.Contains(argv.V[0], "{") {
			return // a placeholder is known only with the ref
		}
		n++
		if err := s.find(argv.V[0]); err != nil {
			r.bad("program-missing", "%s (%s): %s %v", who, argv.Origin, argv.V[0], err)
		}
	}
	look("[worker]", s.Config.Worker.Run)
	for _, rule := range s.Config.Rules {
		look("rule "+rule.Name.V, rule.Run)
	}
	for _, g := range s.Config.GatesInForce() {
		look("gate "+g.Type.V, g.Run)
	}
	if len(r.lines) == before {
		r.good("%d that rules and gates start, all found", n)
	}
}

// find looks for a program as a start would: by PATH, or from the folder of the
// configuration.
func (s *Subject) find(name string) error {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(s.Config.File), name)
		}
		return executable(name)
	}
	path, _ := s.Env("PATH")
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
