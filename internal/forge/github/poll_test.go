package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestChanged(t *testing.T) {
	r := newRig(t)
	old := r.AddIssue(repoPath, "octo", "old", "")
	r.clock.Advance(time.Hour)
	since := r.clock.Wall()
	merged := r.AddPull(repoPath, "octo", "merged", "topic")
	r.Merge(merged, "octo")
	r.clock.Advance(time.Second)
	closed := r.AddIssue(repoPath, "octo", "closed", "")
	r.Close(closed, "octo")

	first := must[forge.Changes](t)(r.gh.Changed(t.Context(), r.repo, since, forge.Seen{}))
	if got := names(first.Threads); !slices.Equal(got, []string{"#2 merged", "#3 closed"}) || !first.At.Equal(r.clock.Wall()) {
		t.Fatalf("%v at %v", got, first.At)
	}
	r.Forget()
	again := must[forge.Changes](t)(r.gh.Changed(t.Context(), r.repo, since, first.Seen))
	if all, unchanged := r.Count("GET", "/issues"); !again.Unchanged || all != 1 || unchanged != 1 || again.Seen != first.Seen {
		t.Errorf("%+v by %d requests, %d of them 304", again, all, unchanged)
	}
	// Another since is another list: its tag is not taken for this one's.
	if got := must[forge.Changes](t)(r.gh.Changed(t.Context(), r.repo, since.Add(time.Hour), first.Seen)); got.Unchanged || len(got.Threads) != 0 {
		t.Errorf("%+v", got)
	}
	r.clock.Advance(time.Second)
	r.Label(old, "x", true, "octo")
	if got := must[forge.Changes](t)(r.gh.Changed(t.Context(), r.repo, since, again.Seen)); got.Unchanged || len(got.Threads) != 3 {
		t.Errorf("a change was not seen: %+v", got)
	}
}

func names(list []forge.Thread) []string {
	var names []string
	for _, t := range list {
		names = append(names, fmt.Sprintf("#%d %s", t.Ref.Number(), t.State))
	}
	return names
}

// A list that fills its page leaves no tag: what changes next stands on another page.
func TestChanged_FullPageHasNoTag(t *testing.T) {
	for n, want := range map[int]bool{99: true, 100: false, 101: false} {
		r := newRig(t)
		for range n {
			r.AddIssue(repoPath, "octo", "x", "")
			r.clock.Advance(time.Second)
		}
		got := must[forge.Changes](t)(r.gh.Changed(t.Context(), r.repo, time.Time{}, forge.Seen{}))
		if len(got.Threads) != n || (got.Seen.ETag != "") != want {
			t.Errorf("%d: %d threads, tag %q", n, len(got.Threads), got.Seen.ETag)
		}
	}
}

// What slips over the edge of a page, because one before it changed meanwhile, is not
// lost: the cursor would be past it for ever.
func TestChanged_PagesMove(t *testing.T) {
	r := newRig(t)
	var all []forgetest.At
	for range 250 {
		all = append(all, r.AddIssue(repoPath, "octo", "x", ""))
		r.clock.Advance(time.Second)
	}
	n := 0
	c := served(t, func(w http.ResponseWriter, q *http.Request) {
		if n++; n > 1 && n < 4 {
			r.clock.Advance(time.Second)
			r.Label(all[n], fmt.Sprint("x", n), true, "octo")
			r.Label(all[n+10], fmt.Sprint("x", n), true, "octo")
		}
		resp, err := http.Get("http://" + r.host + "/api/v3" + q.URL.RequestURI())
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		w.Header().Set("Link", resp.Header.Get("Link"))
		var body json.RawMessage
		_ = json.NewDecoder(resp.Body).Decode(&body)
		_, _ = w.Write(body)
	})
	got := must[forge.Changes](t)(c.Changed(t.Context(), c.host+"/"+repoPath, time.Time{}, forge.Seen{}))
	seen := map[int]bool{}
	for _, x := range got.Threads {
		seen[x.Ref.Number()] = true
	}
	if len(seen) != 250 || len(got.Threads) != 250 {
		t.Errorf("%d threads, %d of them different", len(got.Threads), len(seen))
	}
	if !slices.IsSortedFunc(got.Threads, func(a, b forge.Thread) int { return a.Updated.Compare(b.Updated) }) {
		t.Error("not by their change")
	}
}

// More changes in one second than a page holds.
func TestChanged_OneSecond(t *testing.T) {
	r := newRig(t)
	for range 250 {
		r.AddIssue(repoPath, "octo", "x", "")
	}
	for _, since := range []time.Time{{}, r.clock.Wall(), r.clock.Wall().Add(-time.Hour)} {
		if got := must[forge.Changes](t)(r.gh.Changed(t.Context(), r.repo, since, forge.Seen{})); len(got.Threads) != 250 {
			t.Errorf("since %v: %d threads", since, len(got.Threads))
		}
	}
}

func TestChanged_Fails(t *testing.T) {
	r := newRig(t)
	r.AddIssue(repoPath, "octo", "x", "")
	for _, f := range []forgetest.Fault{{Status: 404}, {Status: 502}, {Cut: true}, {Status: 200, Body: "null"}, {Status: 200, Body: "[{}]"}} {
		remove := r.Inject(f)
		if got, err := r.gh.Changed(t.Context(), r.repo, time.Time{}, forge.Seen{}); !errors.Is(err, slot.ErrUnknown) || got.Seen.ETag != "" {
			t.Errorf("%+v: %+v, %v", f, got, err)
		}
		remove()
	}
}

func TestOpen(t *testing.T) {
	r := newRig(t)
	for i := range 120 {
		at := r.AddPull(repoPath, "octo", "x", "topic")
		if i%2 == 1 {
			r.Close(at, "octo")
		}
	}
	issue := r.AddIssue(repoPath, "octo", "x", "")
	r.AddComment(issue, "octo", "x")
	got := must[[]forge.Thread](t)(r.gh.Open(t.Context(), r.repo))
	if len(got) != 61 {
		t.Fatalf("%d threads", len(got))
	}
	for _, x := range got {
		if x.Pull && (x.Head.Sha == "" || x.Comments != 0) || !x.Pull && x.Comments != 1 {
			t.Errorf("%+v", x)
		}
	}
	// A pull request that the second list does not have is read alone.
	r.Inject(forgetest.Fault{Path: "/pulls", Times: 1, Status: 200, Body: "[]"})
	r.Forget()
	if got := must[[]forge.Thread](t)(r.gh.Open(t.Context(), r.repo)); len(got) != 61 || got[0].Head.Sha == "" {
		t.Errorf("%d threads", len(got))
	}
}

func TestRepo(t *testing.T) {
	r := newRig(t)
	id := r.AddRepo("Octo/Secret")
	r.EditRepo("Octo/Secret", func(x *forgetest.Repo) { x.Public, x.Archived, x.Default = false, true, "trunk" })
	r.Rename("octo/secret", "Octo/Vault")
	got := must[forge.Repo](t)(r.gh.Repo(t.Context(), r.host+"/octo/secret"))
	want := forge.Repo{ID: fmt.Sprint(id), Name: r.host + "/octo/vault", Default: "trunk", Archived: true, Updated: got.Updated}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := must[forge.Repo](t)(r.gh.Repo(t.Context(), r.repo)); !got.Public {
		t.Errorf("%+v", got)
	}
}

func TestMe(t *testing.T) {
	r := newRig(t)
	r.AddUser(forgetest.User{Login: "ann", Token: "token-ann"})
	if got := must[string](t)(r.gh.Me(t.Context())); got != "bot-a[bot]" {
		t.Errorf("an App: %s", got)
	}
	ann := newClient(t, "http://"+r.host+"/api/v3", "token-ann", r.clock)
	if got := must[string](t)(ann.Me(t.Context())); got != "ann" {
		t.Errorf("a user: %s", got)
	}
}

func TestRepos(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"octo/b", "ann/a", "ann/b"} {
		r.AddRepo(path)
	}
	r.AddUser(forgetest.User{Login: "ann", Token: "token-ann"})
	for name, c := range map[string]struct {
		client *Client
		globs  []string
		want   string
	}{
		"an App's own":     {r.gh, nil, "ann/a ann/b octo/b octo/hello"},
		"a user's own":     {newClient(t, "http://"+r.host+"/api/v3", "token-ann", r.clock), nil, "ann/a ann/b octo/b octo/hello"},
		"one":              {r.gh, []string{"octo/hello"}, "octo/hello"},
		"one with a host":  {r.gh, []string{r.host + "/Octo/Hello"}, "octo/hello"},
		"one that is gone": {r.gh, []string{"octo/gone", "ann/a"}, "ann/a"},
	} {
		got := must[[]forge.Repo](t)(c.client.Repos(t.Context(), c.globs))
		var names []string
		for _, one := range got {
			names = append(names, strings.TrimPrefix(one.Name, r.host+"/"))
		}
		slices.Sort(names)
		if strings.Join(names, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, names, c.want)
		}
	}
	r.Forget()
	must[[]forge.Repo](t)(r.gh.Repos(t.Context(), []string{"octo/*", "octo/x*"}))
	if want := []string{"GET /orgs/octo/repos", "GET /installation/repositories"}; !slices.Equal(r.requests(), want) {
		t.Errorf("%v", r.requests())
	}
	// One owner that fails does not hide the others.
	r.Inject(forgetest.Fault{Path: "/orgs/octo", Status: http.StatusForbidden})
	if got, err := r.gh.Repos(t.Context(), []string{"octo/*", "ann/*"}); len(got) == 0 || !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRedeliver(t *testing.T) {
	r := newRig(t)
	add := func(guid string, status int) { r.AddDelivery(repoPath, forgetest.Delivery{GUID: guid, Status: status}) }
	add("too old", 502)
	r.clock.Advance(time.Hour)
	since := r.clock.Wall()
	add("down", 502)
	add("fine", 202)
	add("fine at last", 500)
	add("fine at last", 202)
	for range 3 {
		add("hopeless", 401)
	}
	for range 120 {
		add("noise", 202)
	}
	if n := must[int](t)(r.gh.Redeliver(t.Context(), r.repo, since)); n != 1 {
		t.Errorf("%d asked for again", n)
	}
	for _, d := range r.Deliveries(repoPath) {
		if (d.Again > 0) != (d.GUID == "down") {
			t.Errorf("%+v", d)
		}
	}
}

func TestRedeliver_Unsupported(t *testing.T) {
	r := newRig(t)
	r.AddUser(forgetest.User{Login: "reader", Token: "token-r"})
	reader := newClient(t, "http://"+r.host+"/api/v3", "token-r", r.clock)
	reader.Hook = r.gh.Hook
	if _, err := reader.Redeliver(t.Context(), r.repo, time.Time{}); !errors.Is(err, forge.ErrUnsupported) {
		t.Errorf("no right: %v", err)
	}
	r.gh.Hook = nil
	if _, err := r.gh.Redeliver(t.Context(), r.repo, time.Time{}); !errors.Is(err, forge.ErrUnsupported) {
		t.Errorf("no hook of ours: %v", err)
	}
	if r.gh.Capabilities().Redelivers {
		t.Error("declared all the same")
	}
}
