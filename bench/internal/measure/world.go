package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

// The forge that is polled: so many repositories with so many open pull requests each.
const (
	worldRepos = 500
	worldPulls = 20
	worldOwner = "octo-org"
	worldToken = "a-token-of-the-bench"
)

// sent is a request that the forge was sent.
type sent struct {
	Method, URI, Match, Body string
	At                       time.Time
}

// traffic is what the forge was sent since it was asked last.
type traffic struct {
	All, Unchanged int
	List           []sent // up to mostSent of them
}

// mostSent bounds the list of one answer, and so the line that it is.
const mostSent = 1500

// forgeHelper is a forge in a process of its own, so that what it costs is not counted
// as ours. It says its address first, then answers a line for each line:
//
//	seen       what it was sent since the last time
//	change N   N pull requests get a new head, with a check that failed
//	delay D    answers take so long from now on
func forgeHelper(_ context.Context, _ *Bench, args []string) error {
	var repos, pulls, issues int
	if _, err := fmt.Sscan(args[1]+" "+args[2]+" "+args[3], &repos, &pulls, &issues); err != nil {
		return err
	}
	var ago atomic.Int64 // what is there is from yesterday
	ago.Store(int64(26 * time.Hour))
	w := forgetest.New(forgetest.Kind(args[0]), func() time.Time { return time.Now().Add(-time.Duration(ago.Load())) })
	people(w, repos, pulls, issues)
	ago.Store(0)
	api, stop := forgetest.Start(w)
	defer stop()
	fmt.Println(api)
	changed := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "seen":
			if err := json.NewEncoder(os.Stdout).Encode(trafficOf(w)); err != nil {
				return err
			}
			continue
		case "change":
			var n int
			if _, err := fmt.Sscan(rest, &n); err != nil {
				return err
			}
			for range n {
				at := forgetest.At{Repo: repoPath(changed * 7 % repos), Number: 1 + changed%pulls, Pull: true}
				check(w, w.Push(at), forge.Failure)
				changed++
			}
		case "delay":
			d, err := time.ParseDuration(rest)
			if err != nil {
				return err
			}
			w.Inject(forgetest.Fault{Delay: forgetest.Range{Min: d, Max: d}})
		}
		fmt.Println("done")
	}
	return nil
}

// people fills a world: in each repository so many green pull requests that wait for
// somebody, with a description, labels and a comment; then so many issues.
func people(w *forgetest.World, repos, pulls, issues int) {
	w.AddUser(forgetest.User{Login: "poller", Token: worldToken, Writer: true, Association: "member"})
	body := strings.Repeat("It bumps the dependency to another version, and says so at some length. ", 14)
	for r := range repos {
		path := repoPath(r)
		w.AddRepo(path)
		check(w, w.AddCommit(path, "Bump the version").Sha, forge.Success)
		for n := range pulls {
			at := w.AddPull(path, "dev", fmt.Sprintf("Bump dependency %d to another version", n), fmt.Sprintf("bump-%d", n))
			w.Edit(at, func(t *forgetest.Thread) { t.Body, t.Labels = body, []string{"dependencies", "size/S"} })
			t, _ := w.Thread(at)
			check(w, t.Head.Sha, forge.Success)
			w.AddComment(at, "dev", "What do you think?")
		}
		for n := range issues {
			w.AddIssue(path, "dev", fmt.Sprintf("It fails for the %d. time", n+1), body)
		}
	}
}

func repoPath(n int) string { return fmt.Sprintf("%s/hello-%d", worldOwner, n) }

func check(w *forgetest.World, sha, state string) {
	c := forgetest.Check{Name: "test", State: state}
	if w.Kind() == forgetest.GitHub {
		c.App = "actions"
	}
	w.SetCheck(sha, c)
}

func trafficOf(w *forgetest.World) traffic {
	var t traffic
	t.All, t.Unchanged = w.Count("", "")
	for _, r := range w.Requests() {
		if len(t.List) == mostSent {
			break
		}
		t.List = append(t.List, sent{r.Method, r.URI, r.Match, r.Body, r.At})
	}
	w.Forget()
	return t
}

// world is a forge that runs.
type world struct {
	*helper
	kind, api string
}

// world starts one of a kind.
func (b *Bench) world(ctx context.Context, kind forgetest.Kind, repos, pulls, issues int) (*world, error) {
	h, err := b.helper(ctx, "forge", string(kind), fmt.Sprint(repos), fmt.Sprint(pulls), fmt.Sprint(issues))
	if err != nil {
		return nil, err
	}
	w := &world{helper: h, kind: string(kind)}
	if err := h.read(&w.api); err != nil {
		h.end()
		return nil, err
	}
	return w, nil
}

// seen is what it was sent since the last time.
func (w *world) seen() (t traffic, err error) {
	err = w.ask("seen", &t)
	return t, err
}

// tell has it do something.
func (w *world) tell(format string, args ...any) error {
	text, err := w.say(fmt.Sprintf(format, args...))
	if err == nil && string(text) != "done" {
		err = fmt.Errorf("the forge said %q", text)
	}
	return err
}
