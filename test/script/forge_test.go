package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

// forgeRepo is the repository that threads are of which name none.
const forgeRepo = "octo/hello"

// scriptForge is the forge of a script, in the test's own process.
type scriptForge struct {
	*forgetest.World
	heal []func() // removes the faults
}

// startForge is forge KIND FILE...: a forge with the repository octo/hello, its owner
// octo, who has the token $OCTO_TOKEN, and the account oneslot-bot with $FORGE_TOKEN,
// which may write. Its address takes the place of FORGE_API in the files.
func startForge(ts *testscript.TestScript, neg bool, args []string) {
	f := ts.Value(forgeKey).(*scriptForge)
	if neg || len(args) == 0 || f.World != nil {
		ts.Fatalf("usage: forge KIND FILE..., once")
	}
	f.World = forgetest.New(forgetest.Kind(args[0]), nil)
	f.AddRepo(forgeRepo)
	f.AddCommit(forgeRepo, "the first")
	for login, u := range map[string]forgetest.User{
		"octo":        {Association: "owner", Token: "canary-octo-4711"},
		"oneslot-bot": {Association: "collaborator", Token: "canary-bot-4711"},
	} {
		u.Login, u.Writer = login, true
		f.AddUser(u)
	}
	api, stop := forgetest.Start(f.World)
	ts.Defer(stop)
	if f.Kind() != forgetest.GitHub { // whose library alone wants the path, too
		api = strings.TrimSuffix(strings.TrimSuffix(api, "/api/v1"), "/api/v4")
	}
	for _, name := range args[1:] {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.ReplaceAll(ts.ReadFile(name), "FORGE_API", api)), 0o600))
	}
	ts.Setenv("FORGE_TOKEN", "canary-bot-4711")
	ts.Setenv("OCTO_TOKEN", "canary-octo-4711")
}

type forgeKeyType struct{}

var forgeKey = forgeKeyType{}

// a worldVerb changes the forge, or looks at it. A number stands for a thread: N, !N
// for a merge request, owner/repo#N elsewhere. A text that begins with @ is in a file.
type worldVerb struct {
	usage string // the arguments; those after "[" may be left out
	do    func(f *scriptForge, ts *testscript.TestScript, a []string)
}

func worldVerbs() map[string]worldVerb {
	type ts = *testscript.TestScript
	type f = *scriptForge
	return map[string]worldVerb{
		"repo":   {"REPO", func(f f, _ ts, a []string) { f.AddRepo(a[0]) }},
		"issue":  {"N TITLE [ BODY AUTHOR", addIssue},
		"pull":   {"N TITLE [ BODY AUTHOR", addPull},
		"close":  {"N", func(f f, ts ts, a []string) { f.Close(f.at(ts, a[0]), "octo") }},
		"merge":  {"N", func(f f, ts ts, a []string) { f.Merge(f.at(ts, a[0]), "octo") }},
		"reopen": {"N", func(f f, ts ts, a []string) { f.Reopen(f.at(ts, a[0]), "octo") }},
		"push":   {"N", func(f f, ts ts, a []string) { f.Push(f.at(ts, a[0])) }},
		"label":  {"N LABEL", func(f f, ts ts, a []string) { f.Label(f.at(ts, a[0]), a[1], true, "octo") }},
		"unlabel": {"N LABEL", func(f f, ts ts, a []string) {
			f.Label(f.at(ts, a[0]), a[1], false, "octo")
		}},
		"assign": {"N LOGIN", func(f f, ts ts, a []string) {
			f.Edit(f.at(ts, a[0]), func(t *forgetest.Thread) { t.Assignees = []string{a[1]} })
		}},
		"draft": {"N true|false", func(f f, ts ts, a []string) {
			f.Edit(f.at(ts, a[0]), func(t *forgetest.Thread) { t.Draft = a[1] == "true" })
		}},
		"conflict": {"N", func(f f, ts ts, a []string) {
			f.Edit(f.at(ts, a[0]), func(t *forgetest.Thread) { t.Mergeable = "conflict" })
		}},
		"fork": {"N REPO", func(f f, ts ts, a []string) {
			f.Edit(f.at(ts, a[0]), func(t *forgetest.Thread) { t.Head.Repo = a[1] })
		}},
		// head gives a pull request a head that is given.
		"head": {"N SHA", func(f f, ts ts, a []string) {
			f.Edit(f.at(ts, a[0]), func(t *forgetest.Thread) { t.Head.Sha = a[1] })
		}},
		// check sets a result at a pull request's head, at a commit, or on main.
		"check": {"N|SHA|main NAME STATE", func(f f, ts ts, a []string) {
			f.SetCheck(f.sha(ts, a[0]), forgetest.Check{Name: a[1], State: a[2], App: "ci"})
		}},
		// told writes the delivery of the newest result at a pull request's head, as
		// GitHub sends it.
		"told": {"N FILE", toldCheck},
		// ended is the same for a pull request that was closed or merged.
		"ended":   {"N FILE", toldEnd},
		"user":    {"LOGIN ASSOCIATION", func(f f, _ ts, a []string) { f.AddUser(forgetest.User{Login: a[0], Association: a[1]}) }},
		"sha":     {"N|main VAR", func(f f, ts ts, a []string) { ts.Setenv(a[1], f.sha(ts, a[0])) }},
		"commit":  {"MESSAGE", func(f f, ts ts, a []string) { f.AddCommit(forgeRepo, text(ts, a[0])) }},
		"review":  {"N LOGIN STATE", func(f f, ts ts, a []string) { f.AddReview(f.at(ts, a[0]), a[1], a[2], "see below") }},
		"comment": {"N LOGIN BODY", func(f f, ts ts, a []string) { f.AddComment(f.at(ts, a[0]), a[1], text(ts, a[2])) }},
		// copy has somebody write all comments of one thread that have a marker once
		// more, on another.
		"copy":   {"FROM TO LOGIN", copyMarkers},
		"link":   {"PULL ISSUE", func(f f, ts ts, a []string) { f.Link(f.at(ts, a[0]), f.at(ts, a[1])) }},
		"rename": {"FROM TO", func(f f, _ ts, a []string) { f.Rename(a[0], a[1]) }},
		"move":   {"N REPO", func(f f, ts ts, a []string) { f.MoveIssue(f.at(ts, a[0]), a[1]) }},
		// fault answers requests whose path has a part of that text; HEADER is Name=value.
		"fault": {"STATUS PATH [ HEADER TIMES", addFault},
		"heal": {"", func(f f, _ ts, _ []string) {
			for _, heal := range f.heal {
				heal()
			}
			f.heal = nil
		}},
		"token": {"LOGIN TOKEN", func(f f, _ ts, a []string) {
			u, _ := f.User(a[0])
			u.Token = a[1]
			f.AddUser(u)
		}},
		"lag": {"DURATION", func(f f, ts ts, a []string) {
			d, err := time.ParseDuration(a[0])
			ts.Check(err)
			f.SetReads(forgetest.Reads{Lag: forgetest.Range{Min: d, Max: d}})
		}},
		// has waits until a thread has so many comments that match; shows, until its
		// dump matches; thread dumps it to a file.
		"has":    {"N COUNT [ REGEXP", hasComments},
		"shows":  {"N REGEXP", shows},
		"thread": {"N FILE", func(f f, ts ts, a []string) { ts.Check(os.WriteFile(ts.MkAbs(a[1]), f.dump(ts, a[0]), 0o600)) }},
		// asked counts requests so far with PATH in their address: it waits for so many,
		// or (with =N) wants exactly so many.
		"asked":  {"[=]COUNT METHOD PATH", asked},
		"forget": {"", func(f f, _ ts, _ []string) { f.Forget() }},
	}
}

// world is world VERB ARG...
func world(ts *testscript.TestScript, neg bool, args []string) {
	f := ts.Value(forgeKey).(*scriptForge)
	all := worldVerbs()
	if neg || len(args) == 0 || f.World == nil {
		ts.Fatalf("usage: world VERB ARG..., after forge; VERB is one of %v", slices.Sorted(maps.Keys(all)))
	}
	verb, ok := all[args[0]]
	words, more, _ := strings.Cut(verb.usage, "[ ")
	least := len(strings.Fields(words))
	if most := least + len(strings.Fields(more)); !ok || len(args)-1 < least || len(args)-1 > most {
		ts.Fatalf("usage: world %s %s", args[0], verb.usage)
	}
	verb.do(f, ts, args[1:])
}

func (f *scriptForge) at(ts *testscript.TestScript, word string) forgetest.At {
	at := forgetest.At{Repo: forgeRepo}
	repo, number, ok := strings.Cut(word, "#")
	if ok {
		at.Repo = repo
	} else if number, at.Pull = strings.CutPrefix(word, "!"); !at.Pull {
		number = word
	}
	var err error
	at.Number, err = strconv.Atoi(number)
	ts.Check(err)
	return at
}

func (f *scriptForge) sha(ts *testscript.TestScript, word string) string {
	switch {
	case len(word) == 40:
		return word
	case word == "main":
		return f.Commits(forgeRepo)[0].Sha
	}
	t, _ := f.Thread(f.at(ts, word))
	return t.Head.Sha
}

// text is an argument, or what is in the file that it names.
func text(ts *testscript.TestScript, arg string) string {
	if name, ok := strings.CutPrefix(arg, "@"); ok {
		return ts.ReadFile(name)
	}
	return arg
}

func addIssue(f *scriptForge, ts *testscript.TestScript, a []string) {
	at, body, author := f.new(ts, a)
	made := f.AddIssue(at.Repo, author, a[1], body)
	if made.Number != at.Number {
		ts.Fatalf("the next number is %d", made.Number)
	}
}

func addPull(f *scriptForge, ts *testscript.TestScript, a []string) {
	at, body, author := f.new(ts, a)
	made := f.AddPull(at.Repo, author, a[1], "work-"+strconv.Itoa(at.Number))
	if made.Number != at.Number {
		ts.Fatalf("the next number is %d", made.Number)
	}
	f.Edit(made, func(t *forgetest.Thread) { t.Body = body })
}

func (f *scriptForge) new(ts *testscript.TestScript, a []string) (at forgetest.At, body, author string) {
	author = "octo"
	if len(a) > 2 {
		body = text(ts, a[2])
	}
	if len(a) > 3 {
		author = a[3]
	}
	return f.at(ts, a[0]), body, author
}

func toldCheck(f *scriptForge, ts *testscript.TestScript, a []string) {
	at := f.at(ts, a[0])
	sha := f.sha(ts, a[0])
	all := f.Checks(sha)
	if len(all) == 0 {
		ts.Fatalf("there is no check on %s", a[0])
	}
	c := all[len(all)-1]
	r, _ := f.Repo(at.Repo)
	text, err := json.Marshal(map[string]any{
		"action": "completed", "repository": map[string]any{"id": r.ID, "full_name": r.Path, "private": false}, "sender": map[string]any{"login": "octo"},
		"check_run": map[string]any{
			"id": c.ID, "name": c.Name, "head_sha": sha, "status": "completed", "conclusion": c.State, "completed_at": c.At.UTC().Format(time.RFC3339),
			"app": map[string]any{"id": 15368, "slug": c.App}, "pull_requests": []any{map[string]any{"number": at.Number}},
		},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(a[1]), text, 0o600))
}

func toldEnd(f *scriptForge, ts *testscript.TestScript, a []string) {
	t, _ := f.Thread(f.at(ts, a[0]))
	r, _ := f.Repo(t.At.Repo)
	when := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	pull := map[string]any{
		"number": t.Number, "title": t.Title, "state": "closed", "draft": t.Draft, "merged": t.State == "merged", "user": map[string]any{"login": t.Author},
		"author_association": "OWNER", "created_at": when(t.Created), "updated_at": when(t.Updated),
		"head": map[string]any{"ref": t.Head.Branch, "sha": t.Head.Sha, "repo": map[string]any{"id": r.ID}},
		"base": map[string]any{"ref": t.Base.Branch, "sha": t.Base.Sha, "repo": map[string]any{"id": r.ID}},
	}
	text, err := json.Marshal(map[string]any{
		"action": "closed", "number": t.Number, "pull_request": pull, "sender": map[string]any{"login": "octo"},
		"repository": map[string]any{"id": r.ID, "full_name": r.Path, "private": false},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(a[1]), text, 0o600))
}

func copyMarkers(f *scriptForge, ts *testscript.TestScript, a []string) {
	for _, c := range f.Comments(f.at(ts, a[0])) {
		if strings.HasPrefix(c.Body, "<!-- oneslot") {
			f.AddComment(f.at(ts, a[1]), a[2], c.Body)
		}
	}
}

func addFault(f *scriptForge, ts *testscript.TestScript, a []string) {
	var fault forgetest.Fault
	var err error
	fault.Status, err = strconv.Atoi(a[0])
	ts.Check(err)
	fault.Path = a[1]
	if len(a) > 2 && a[2] != "" {
		name, value, _ := strings.Cut(a[2], "=")
		fault.Header = http.Header{name: {value}}
	}
	if len(a) > 3 {
		fault.Times, err = strconv.Atoi(a[3])
		ts.Check(err)
	}
	f.heal = append(f.heal, f.Inject(fault))
}

func hasComments(f *scriptForge, ts *testscript.TestScript, a []string) {
	match := regexp.MustCompile("")
	if len(a) > 2 {
		var err error
		match, err = regexp.Compile("(?s)" + a[2])
		ts.Check(err)
	}
	poll(ts, func() bool {
		n := 0
		for _, c := range f.Comments(f.at(ts, a[0])) {
			if match.MatchString(c.Body) {
				n++
			}
		}
		return strconv.Itoa(n) == a[1]
	}, func() string { return string(f.dump(ts, a[0])) })
}

func shows(f *scriptForge, ts *testscript.TestScript, a []string) {
	match, err := regexp.Compile("(?s)" + a[1])
	ts.Check(err)
	poll(ts, func() bool { return match.Match(f.dump(ts, a[0])) }, func() string { return string(f.dump(ts, a[0])) })
}

// dump is all that a thread is, as JSON.
func (f *scriptForge) dump(ts *testscript.TestScript, word string) []byte {
	at := f.at(ts, word)
	t, ok := f.Thread(at)
	if !ok {
		ts.Fatalf("there is no thread %s", word)
	}
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	ts.Check(enc.Encode(struct {
		Thread  forgetest.Thread
		Written []forgetest.Comment
	}{t, f.Comments(at)}))
	return []byte(buf.String())
}

func asked(f *scriptForge, ts *testscript.TestScript, a []string) {
	count, exact := strings.CutPrefix(a[0], "=")
	want, err := strconv.Atoi(count)
	ts.Check(err)
	n := 0
	poll(ts, func() bool {
		n = 0
		for _, r := range f.Requests() {
			if r.Method == a[1] && strings.Contains(r.URI, a[2]) {
				n++
			}
		}
		return exact || n >= want
	}, func() string { return fmt.Sprintf("%d requests, want %d", n, want) })
	if exact && n != want {
		ts.Fatalf("%d requests, want %d", n, want)
	}
}
