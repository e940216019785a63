package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/doctor"
	"github.com/oneslot/oneslot/internal/slot"
)

// Bounds of a bundle.
const (
	bundleRuns = 100       // the newest so many
	bundleRefs = 50        // whose decisions are told
	bundleLogs = 10        // runs whose log is added, if logs are
	bundleTail = 256 << 10 // bytes of each log, the last
)

const bundleReadme = `This is what "oneslot doctor --bundle" saw. Secrets that oneslot knows of were taken
out, and what looks like one; the names of repositories, branches of rules, hosts
and commands were not. Look through it before you pass it on.
Logs of workers are in it only with --with-logs. The daemon's own log is with
whoever started it, as in "journalctl --user -u oneslot".
`

// bundle writes all that somebody else needs to help. What cannot be had is told in
// its place; only a file that cannot be written is an error.
func (c *cli) bundle(cmd *cobra.Command, file string, logs bool, cfg *config.Config, s *doctor.Subject, lines []doctor.Line) (err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return c.usagef(cmd, "%s is there already", file)
	}
	if err != nil {
		return c.noBundle(err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(file) //nolint:errcheck // half a bundle helps nobody
			err = c.noBundle(err)
		}
	}()
	b := &bundler{at: time.Now()}
	b.add("README.txt", []byte(bundleReadme), nil)
	b.json("version.json", version(), nil)
	b.json("doctor.json", lineViews(lines), nil)
	b.json("machine.json", doctor.Facts(cmd.Context(), s), nil)
	b.settings(cfg)
	b.state(cmd.Context(), cfg, logs)
	return doctor.WriteBundle(out, redactor(cfg, s), b.at, b.files)
}

func (c *cli) noBundle(err error) error {
	c.printf(c.Err, "oneslot: the bundle could not be written: %v\n", err)
	return &exitError{exitOutput}
}

// redactor knows all secrets that this process can find.
func redactor(cfg *config.Config, s *doctor.Subject) *doctor.Redactor {
	values := append(doctor.Secrets(cfg), doctor.SecretVariables(os.Environ())...)
	if s.Store != nil {
		admin, _ := os.ReadFile(filepath.Join(s.Store.Dir(), "admin.token")) // no daemon was ever here
		values = append(values, admin)
	}
	return doctor.NewRedactor(values...)
}

type bundler struct {
	at    time.Time
	files []doctor.File
}

// add takes a file, or the reason why there is none.
func (b *bundler) add(name string, data []byte, err error) {
	if err != nil {
		name, data = name+".error", []byte(err.Error()+"\n")
	}
	b.files = append(b.files, doctor.File{Name: name, Data: data})
}

func (b *bundler) json(name string, v any, err error) {
	var text bytes.Buffer
	if err == nil {
		err = printJSON(&text, v)
	}
	b.add(name, text.Bytes(), err)
}

func (b *bundler) settings(cfg *config.Config) {
	if cfg == nil {
		return // doctor's lines tell
	}
	b.json("config.json", entryViews(cfg), nil)
}

// state is what the store knows.
func (b *bundler) state(ctx context.Context, cfg *config.Config, logs bool) {
	if cfg == nil {
		return
	}
	a, err := app.New(cfg)
	if err != nil {
		b.add("status.json", nil, err)
		return
	}
	all, err := statusOf(ctx, a)
	b.json("status.json", all.view(a), err)
	runs, err := a.Store.Runs(ctx, slot.Ref{}, bundleRuns)
	views := []runView{}
	for _, r := range runs {
		views = append(views, viewRun(r))
	}
	b.json("runs.json", views, err)
	if a.Queue != nil {
		g, err := a.Queue.Gauge(ctx)
		b.json("queue.json", map[string]any{
			"items": g.Items, "due": g.Due, "deferred": g.Deferred, "unresolved": g.Unresolved, "oldest": stamp(g.Oldest),
		}, err)
	}
	b.decisions(ctx, a, all, runs)
	if logs {
		b.logs(a, runs)
	}
}

// decisions are those on what is in hand now, and on what ran last.
func (b *bundler) decisions(ctx context.Context, a *app.App, all state, runs []slot.Run) {
	var refs []slot.Ref
	add := func(ref slot.Ref) {
		if len(refs) < bundleRefs && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, s := range all.slots {
		add(s.Ref)
	}
	for _, it := range all.queue {
		add(it.Ref)
	}
	for _, r := range runs {
		add(r.Ref)
	}
	told := map[string][]decisionView{}
	for _, ref := range refs {
		list, err := a.Store.Decisions(ctx, ref)
		if err != nil {
			b.json("decisions.json", nil, err)
			return
		}
		for _, d := range list {
			told[ref.String()] = append(told[ref.String()], viewDecision(d))
		}
	}
	b.json("decisions.json", told, nil)
}

// logs are the ends of what the last workers printed.
func (b *bundler) logs(a *app.App, runs []slot.Run) {
	for _, r := range runs[:min(bundleLogs, len(runs))] {
		data, err := tail(filepath.Join(a.Store.Dir(), "runs", r.ID, "log"), bundleTail)
		b.add(fmt.Sprintf("logs/%s.log", r.ID), data, err)
	}
}

// tail reads the last n bytes of a file.
func tail(file string, n int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		if _, err := f.Seek(-n, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, n))
}
