package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

const (
	// forgeDelay is how long the forge takes for each answer: enough that a round trip
	// too many shows.
	forgeDelay = 20 * time.Millisecond
	// forgeRoom is what reading facts may cost the program itself, in ms.
	forgeRoom = 10
	// forgeRounds is how often each is measured; the first ones are left out.
	forgeRounds, forgeWarm = 21, 2
)

// runForge: number 17, what facts and reservations add to a start.
func runForge(ctx context.Context, b *Bench) (rows []report.Row, err error) {
	for _, c := range []struct {
		kind   forgetest.Kind
		issues bool
	}{{forgetest.GitHub, false}, {forgetest.GitHub, true}, {forgetest.Gitea, false}, {forgetest.Gitea, true}} {
		more, err := runForgeOf(ctx, b, c.kind, c.issues)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.kind, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// begun is a run that started its worker.
type begun struct {
	first float64 // ms from the start of the program to the worker's first word
	sent  traffic // until then
}

// forgeRuns are runs for the threads of one repository on a forge.
type forgeRuns struct {
	b      *Bench
	prog   string
	world  *world
	said   *fifo
	issues bool
}

func runForgeOf(ctx context.Context, b *Bench, kind forgetest.Kind, issues bool) (rows []report.Row, err error) {
	const refs = forgeRounds + forgeWarm
	prog, err := b.oneslot(ctx)
	if err != nil {
		return nil, err
	}
	pulls := refs
	if issues {
		pulls = 1
	}
	w, err := b.world(ctx, kind, 1, pulls, refs)
	if err != nil {
		return nil, err
	}
	defer w.end()
	if err := w.tell("delay %s", forgeDelay); err != nil {
		return nil, err
	}
	asker, err := b.helper(ctx, "asker", w.kind, w.api)
	if err != nil {
		return nil, err
	}
	defer asker.end()
	said, err := b.newFifo()
	if err != nil {
		return nil, err
	}
	said.listen()
	defer func() { err = errors.Join(err, said.Close()) }()
	r := &forgeRuns{b, prog, w, said, issues}
	without, err := r.config("")
	if err != nil {
		return nil, err
	}
	with, err := r.config(r.forge())
	if err != nil {
		return nil, err
	}
	reserving, err := r.config(r.forge() + "\n[reservation]\nenabled = true\nkey = { env = \"RESERVATION_KEY\" }\n")
	if err != nil {
		return nil, err
	}

	var facts, reserved report.Pairs
	var plain, answers, asked, trips []float64
	for i := range refs {
		none, err := r.begin(ctx, without, i)
		if err != nil {
			return nil, fmt.Errorf("without a forge: %w", err)
		}
		some, err := r.begin(ctx, with, i)
		if err != nil {
			return nil, fmt.Errorf("with a forge: %w", err)
		}
		bare, err := askBare(asker, some.sent, 1)
		if err != nil {
			return nil, err
		}
		if _, err := w.seen(); err != nil {
			return nil, err
		}
		if i >= forgeWarm {
			facts.Add(some.first-none.first, bare.Wall+forgeRoom)
			plain, answers, asked = append(plain, none.first), append(answers, bare.Wall), append(asked, float64(some.sent.All))
		}
		if kind != forgetest.Gitea {
			continue // its reservations wait
		}
		all, err := r.begin(ctx, reserving, i)
		if err != nil {
			return nil, fmt.Errorf("with reservations: %w", err)
		}
		if i >= forgeWarm {
			trip := bare.Wall / float64(some.sent.All)
			reserved.Add(all.first, none.first+trip*float64(all.sent.All)+forgeRoom)
			trips = append(trips, float64(all.sent.All))
		}
	}
	thread := "a pull request"
	if issues {
		thread = "an issue"
	}
	what := fmt.Sprintf("run for %s, %s answers in 20 ms: ", thread, kind)
	rows = append(rows, facts.Into(report.Row{What: what + "added by facts", Unit: "ms", Limit: "the same requests in turn + 10 ms"}).
		With("requests", report.Median(asked), "").With("without a forge", report.Median(plain), "ms").
		Beside("a bare net/http client, the same requests in turn", report.Median(answers), "ms", "It reads the answers and knows nothing of what is in them."))
	if len(trips) > 0 {
		rows = append(rows, reserved.Into(report.Row{What: what + "its first word, reserved", Unit: "ms", Limit: "no forge + each round trip + 10 ms"}).
			With("round trips until then", report.Median(trips), "").With("without a forge", report.Median(plain), "ms"))
	}
	return rows, nil
}

// forge is the table of the forge.
func (r *forgeRuns) forge() string {
	api := "http://" + r.host()
	if r.world.kind == string(forgetest.GitHub) {
		api = r.world.api
	}
	return fmt.Sprintf("[[forge]]\nhost = %q\ntype = %q\napi = %q\ntoken = { env = \"FORGE_TOKEN\" }\n", r.host(), r.world.kind, api)
}

func (r *forgeRuns) host() string { return forgetest.Host(r.world.api) }

// config gives the environment of a program with a store and a configuration of its own.
func (r *forgeRuns) config(text string) (env []string, err error) {
	path := r.b.path()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(filepath.Dir(path), "oneslot.toml")
	return r.b.environ(path, "ONESLOT_CONFIG="+file, "FORGE_TOKEN="+worldToken, "RESERVATION_KEY=the key of the bench's markers"),
		os.WriteFile(file, []byte(text), 0o600)
}

// begin runs a worker for the n-th thread that says when it starts.
func (r *forgeRuns) begin(ctx context.Context, env []string, n int) (s begun, err error) {
	if _, err := r.world.seen(); err != nil {
		return s, err
	}
	ref := fmt.Sprintf("%s/%s#%d", r.host(), repoPath(0), n+1)
	if r.issues {
		ref = fmt.Sprintf("%s/%s#%d", r.host(), repoPath(0), n+2)
	}
	cmd := command(ctx, env, r.prog, "run", ref, "--", "/bin/sh", "-c", "echo started >"+r.said.Name())
	cmd.Stderr = os.Stderr
	at := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	told, err := r.said.wait(ctx, "started")
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return s, err
	}
	all, err := r.world.seen()
	for _, q := range all.List {
		if q.At.Before(told) {
			s.sent.List = append(s.sent.List, q)
		}
	}
	s.first, s.sent.All = ms(told.Sub(at)), len(s.sent.List)
	return s, err
}
