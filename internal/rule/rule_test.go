package rule

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func load(t *testing.T, text string) Set {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{
		ConfigFlag: file,
		Env:        func(name string) (string, bool) { v, ok := map[string]string{"HOME": dir}[name]; return v, ok },
		Getwd:      func() (string, error) { return dir, nil },
		Hostname:   func() (string, error) { return "host-a", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(c)
}

func ref(t *testing.T, s string) slot.Ref {
	t.Helper()
	r, err := slot.ParseRef(s, slot.Grammar{DefaultHost: "github.com"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// P9: each filter lets pass what it is for, and each refusal says which it was.
func TestWanting(t *testing.T) {
	pull, branch := ref(t, "octo/hello#1"), ref(t, "octo/hello@release/1.2")
	for name, tt := range map[string]struct {
		match string
		event slot.Event
		why   string // empty: wanted
	}{
		"kind":              {"", slot.Event{Kind: slot.Opened, Ref: pull}, ""},
		"another kind":      {"", slot.Event{Kind: slot.Closed, Ref: pull}, "on does not name closed"},
		"manual":            {"", slot.Event{Kind: slot.Manual, Ref: pull}, "on does not name manual"},
		"label":             {`labels = ["a", "Bot"]`, slot.Event{Facts: slot.Facts{Labels: []string{"x", "bot"}}}, ""},
		"label just set":    {`labels = ["bot"]`, slot.Event{Facts: slot.Facts{Label: "bot"}}, ""},
		"other label":       {`labels = ["a", "bot"]`, slot.Event{Facts: slot.Facts{Labels: []string{"robot"}}}, "match.labels: the event names none of a, bot"},
		"no labels":         {`labels = ["bot"]`, slot.Event{}, "match.labels: the event names none of bot"},
		"no label at all":   {`labels = []`, slot.Event{}, ""},
		"base":              {`branches = ["main"]`, slot.Event{Ref: pull, Facts: slot.Facts{Base: "main", Branch: "topic"}}, ""},
		"head is no base":   {`branches = ["topic"]`, slot.Event{Ref: pull, Facts: slot.Facts{Base: "main", Branch: "topic"}}, "match.branches: the branch is none of topic"},
		"case counts":       {`branches = ["main"]`, slot.Event{Ref: pull, Facts: slot.Facts{Base: "Main"}}, "match.branches: the branch is none of main"},
		"branch itself":     {`branches = ["release/*"]`, slot.Event{Ref: branch}, ""},
		"star and slash":    {`branches = ["rel*", "*/1"]`, slot.Event{Ref: branch}, "match.branches: the branch is none of rel*, */1"},
		"two stars":         {`branches = ["r**2"]`, slot.Event{Ref: branch}, ""},
		"dot is a dot":      {`branches = ["release/1?2", "x"]`, slot.Event{Facts: slot.Facts{Base: "release/1/2"}}, "match.branches: the branch is none of release/1?2, x"},
		"whole branch":      {`branches = ["main"]`, slot.Event{Facts: slot.Facts{Base: "mainline\nmain"}}, "match.branches: the branch is none of main"},
		"issue":             {`branches = ["**"]`, slot.Event{Ref: pull}, "match.branches: the event names no branch that the changes go to"},
		"author":            {`authors = ["Octo"]`, slot.Event{Facts: slot.Facts{Author: "oCTo", Actor: "other"}}, ""},
		"actor no author":   {`authors = ["octo"]`, slot.Event{Facts: slot.Facts{Author: "other", Actor: "octo"}}, "match.authors: the author is none of octo"},
		"author not named":  {`authors = ["octo"]`, slot.Event{}, "match.authors: the author is none of octo"},
		"draft wanted":      {`draft = true`, slot.Event{Facts: slot.Facts{Draft: true}}, ""},
		"draft missing":     {`draft = true`, slot.Event{}, "match.draft: it is no draft"},
		"draft not wanted":  {`draft = false`, slot.Event{Facts: slot.Facts{Draft: true}}, "match.draft: it is a draft"},
		"no draft":          {`draft = false`, slot.Event{}, ""},
		"all of them":       {`draft = false, labels = ["a"], authors = ["b"], branches = ["c"]`, slot.Event{Facts: slot.Facts{Labels: []string{"a"}, Author: "b", Base: "c"}}, ""},
		"all but one of it": {`draft = false, labels = ["a"], authors = ["b"], branches = ["c"]`, slot.Event{Facts: slot.Facts{Labels: []string{"a"}, Author: "x", Base: "c"}}, "match.authors: the author is none of b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, "[[rule]]\nname = 'r'\non = ['labeled', 'opened']\nrun = ['true']\nmatch = {"+tt.match+"}")
			if tt.event.Kind == "" {
				tt.event.Kind = slot.Labeled
			}
			if tt.event.Ref.IsZero() {
				tt.event.Ref = pull
			}
			want := []Explanation{{"r", tt.why == "", tt.why}}
			if diff := cmp.Diff(want, s.Explain(tt.event)); diff != "" {
				t.Error("(-want +got)\n" + diff)
			}
			if got := len(s.Wanting(tt.event)); (got == 1) != (tt.why == "") {
				t.Errorf("%d rules want it", got)
			}
		})
	}
}

// A check that names no pull request yet is kept by what it says, so that it is not
// lost before its ref is found.
func TestWantingBeforeTheRefIsKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		match string
		facts slot.Facts
		want  bool
	}{
		"nothing is known":  {`labels = ["a"], branches = ["main"], authors = ["b"], draft = true`, slot.Facts{}, true},
		"another base":      {`branches = ["main"]`, slot.Facts{Base: "dev"}, false},
		"another author":    {`authors = ["a"]`, slot.Facts{Author: "b"}, false},
		"other labels":      {`labels = ["a"]`, slot.Facts{Labels: []string{"b"}}, false},
		"a draft":           {`draft = false`, slot.Facts{Draft: true}, false},
		"head is no matter": {`branches = ["main"]`, slot.Facts{Branch: "topic"}, true},
	} {
		s := load(t, "[[rule]]\nname = 'r'\non = ['ci_failed']\nrun = ['true']\nmatch = {"+tt.match+"}")
		if got := s.Wanting(slot.Event{Kind: slot.CIFailed, Sha: "c0ffee", Facts: tt.facts}); (len(got) == 1) != tt.want {
			t.Errorf("%s: %d rules", name, len(got))
		}
	}
}

func TestSet(t *testing.T) {
	s := load(t, `
[worker]
run = ["work", "{slug}"]
[[rule]]
name = "b"
on = ["opened", "manual"]
run = ["./b", "{owner}/{repo}", "{number}", "{sha}", "$(x) {"]
env = ["GITHUB_TOKEN"]
timeout = "1h"
ttl = "30s"
grace = "5s"
priority = -2
attempts = 7
backoff = "1s-2s"
quiet = "3s"
max_quiet = "4s"
again = "1h"
every = "1d"
link = true
[[rule]]
name = "a"
on = ["opened"]
run = ["a"]`)
	var names []string
	for _, r := range s.Wanting(slot.Event{Kind: slot.Opened}) {
		names = append(names, r.Name)
	}
	if fmt.Sprint(names) != "[b a]" {
		t.Error("not in the order of the file:", names)
	}
	b, ok := s.Named("b")
	if !ok || b.Timeout != time.Hour || b.TTL != 30*time.Second || b.Grace != 5*time.Second || fmt.Sprint(b.Env) != "[GITHUB_TOKEN]" {
		t.Errorf("%+v", b)
	}
	want := queue.Policy{Rule: "b", Priority: -2, Attempts: 7, BackoffMin: time.Second, BackoffMax: 2 * time.Second, Quiet: 3 * time.Second, MaxQuiet: 4 * time.Second, Again: time.Hour}
	if diff := cmp.Diff(want, b.Policy()); diff != "" {
		t.Error("(-want +got)\n" + diff)
	}
	if b.Every != 24*time.Hour || !b.Link || len(s.Wanting(slot.Event{Kind: slot.Scheduled})) != 1 {
		t.Error("every and link:", b.Every, b.Link)
	}
	if _, ok := s.Named("c"); ok {
		t.Error("there is no rule c")
	}
	argv, err := b.Argv(ref(t, "octo/hello#1"), "c0ffee")
	if err != nil || !filepath.IsAbs(argv[0]) || strings.Join(argv[1:], "|") != "octo/hello|1|c0ffee|$(x) {" {
		t.Error(argv, err)
	}
	if argv, err := b.Argv(ref(t, "key:deploy"), ""); !errors.Is(err, slot.ErrUsage) {
		t.Error(argv, err)
	}
	w, ok := s.Worker()
	if argv, err := w.Argv(ref(t, "key:deploy"), ""); !ok || err != nil || len(argv) != 2 {
		t.Error(ok, argv, err)
	}
	if p := w.Policy(); p.Rule != "" || p.Attempts != 3 || p.Quiet != 2*time.Second || w.TTL != time.Minute {
		t.Errorf("%+v", p)
	}
}

// Without [worker] a wish without a rule must bring its command, and has the
// defaults for all else.
func TestNoWorker(t *testing.T) {
	s := load(t, "")
	w, ok := s.Worker()
	argv, err := w.Argv(ref(t, "key:x"), "")
	if ok || argv != nil || err != nil || w.Policy().Attempts != 3 {
		t.Error(ok, argv, err, w.Policy())
	}
	if w, ok := s.Named(""); !ok || w.Timeout != 90*time.Minute {
		t.Error(w, ok)
	}
}
