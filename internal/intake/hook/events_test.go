package hook

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oneslot/oneslot/internal/slot"
)

// kinds gives the events as "kind ref", or what was ignored.
func kinds(p Parsed) string {
	if p.Ignored != "" {
		return "ignored: " + p.Ignored
	}
	var out []string
	for _, e := range p.Events {
		out = append(out, strings.TrimSpace(string(e.Kind)+" "+e.Ref.String()))
	}
	return strings.Join(out, ", ")
}

func parse(t testing.TB, h Hook, event, body string) Parsed {
	t.Helper()
	p, err := Parse(h, http.Header{eventHeader(h.Forge): {event}}, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What each payload's event is.
func TestKinds(t *testing.T) {
	want := map[string]string{
		"github/01":           "opened github.com/codertocat/hello-world#1",
		"github/07":           "labeled github.com/codertocat/hello-world#1",
		"github/17":           "pushed github.com/codertocat/hello-world#2",
		"github/20":           "ready github.com/codertocat/hello-world#2",
		"github/21":           "closed github.com/codertocat/hello-world#2",
		"github/23":           "review_comment github.com/codertocat/hello-world#2",
		"github/24":           "approved github.com/baxterthehacker/public-repo#8",
		"github/26":           "ci_failed github.com/codertocat/hello-world#2",
		"github/30":           "ci_passed", // C28: of a commit
		"github/33":           "ci_passed",
		"github/36":           "ci_passed",
		"gitea/10":            "merged git.example.com/octo-user-1/my-repo#1",
		"gitea/12":            "labeled git.example.com/example/example#2",
		"gitea/14":            "approved git.example.com/octo-user-1/my-repo#1",
		"gitea-recorded/0034": "pushed git.example.com/octo/hello#2",
		"gitea-recorded/0039": "edited git.example.com/octo/hello#2",
		"gitea-recorded/0040": "ready git.example.com/octo/hello#2",
		"gitea-recorded/0043": "review_requested git.example.com/octo/hello#2",
		"gitea-recorded/0045": "changes_requested git.example.com/octo/hello#2",
		"gitea-recorded/0046": "review_comment git.example.com/octo/hello#2",
		"gitea-recorded/0047": "approved git.example.com/octo/hello#2",
		"gitea-recorded/0049": "ci_failed",
		"gitea-recorded/0053": "merged git.example.com/octo/hello#2",
		"gitlab/04":           "labeled gitlab.com/gitlab-org/hello-world#1",
		"gitlab/12":           "pushed gitlab.com/gitlab-org/hello-world!1, labeled gitlab.com/gitlab-org/hello-world!1",
		"gitlab/13":           "edited gitlab.com/octo-user-1/octo-repo!3",
		"gitlab/15":           "merged gitlab.com/gitlab-org/hello-world!1",
		"gitlab/16":           "ci_passed gitlab.com/gitlab-org/gitlab-test!15",
		"gogs/05":             "pushed git.example.com/gogits/hello-world#2",
	}
	for _, r := range rows(t) {
		i := strings.IndexAny(r.file[strings.Index(r.file, "/"):], "-.") + strings.Index(r.file, "/")
		if w, ok := want[r.file[:i]]; ok {
			delete(want, r.file[:i])
			if got := kinds(r.parse(t, testHook(r.forge))); got != w {
				t.Errorf("%s: %s; want %s", r.file, got, w)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no such payload: %v", want)
	}
}

// The facts are as complete as the payload allows.
func TestFacts(t *testing.T) {
	public, private := true, false
	for file, want := range map[string]slot.Facts{
		"github/18-pull_request.labeled.json": {
			State: "open", Pull: true, Labels: []string{"bug"}, Label: "bug", Branch: "changes", Base: "master",
			Author: "Codertocat", Actor: "Codertocat", Association: "owner", Public: &public,
		},
		"github/26-check_run.completed.json": {
			Pull: true, Branch: "changes", Base: "master", Actor: "Codertocat", App: "github-actions", Public: &public,
			Check: "Octocoders-linter", Result: "failure",
		},
		"gitea/02-issues.closed.json": {State: "closed", Author: "octo-user-1", Actor: "octo-user-1", Public: &private},
		"gogs/04-pull_request.opened.json": {
			State: "open", Pull: true, Branch: "feature", Base: "master", Author: "octo-user-1", Actor: "octo-user-1", Public: &private,
		},
		"gitlab/13-merge_request.update.json": {
			State: "open", Pull: true, Draft: true, Branch: "main1234", Base: "main", Author: "octo-user-1", Actor: "octo-user-1",
			Public: &private,
		},
	} {
		for _, r := range rows(t) {
			if r.file != file {
				continue
			}
			p := r.parse(t, testHook(r.forge))
			if diff := cmp.Diff(want, p.Events[0].Facts); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
		}
	}
}

const where = `"repository":{"id":1,"full_name":"Octo/Hello","private":false}`

func commentBody(action, text, old, author, sender, more string) string {
	changes := ""
	if old != "" {
		changes = fmt.Sprintf(`"changes":{"body":{"from":%q}},`, old)
	}
	return fmt.Sprintf(`{"action":%q,%s"issue":{"number":3,"title":"/oneslot in the title","pull_request":{},"user":{"login":"ann"}},
		"comment":{"id":9,"body":%q,"updated_at":"2026-01-02T03:04:05Z","author_association":"MEMBER","user":{"login":%q}%s},
		"sender":{"login":%q,"type":"User"},%s}`, action, changes, text, author, more, sender, where)
}

// C30, C31, C32: what a comment is.
func TestC31_Comments(t *testing.T) {
	const ref = " github.com/octo/hello#3"
	h := testHook(GitHub)
	h.Own = Own{Logins: []string{"Our-Bot"}, Apps: []string{"ours", "77"}}
	for _, c := range []struct{ name, body, want string }{
		{"plain", commentBody("created", "hi", "", "bob", "bob", ""), "comment" + ref},
		{"command", commentBody("created", "/oneslot fix", "", "bob", "bob", ""), "command" + ref},
		{"command in a quote", commentBody("created", "> /oneslot fix", "", "bob", "bob", ""), "comment" + ref},
		{"mention", commentBody("created", "@our-bot look", "", "bob", "bob", ""), "mentioned" + ref},
		{"own login", commentBody("created", "reserved; /oneslot to retry\n/oneslot", "", "our-bot", "our-bot", ""), "ignored: own: a comment of our-bot"},
		{"own app", commentBody("created", "/oneslot", "", "bob", "bob", `,"performed_via_github_app":{"id":5,"slug":"ours"}`), "ignored: own: a comment of bob"},
		{"own app by id", commentBody("created", "/oneslot", "", "bob", "bob", `,"performed_via_github_app":{"id":77,"slug":"x"}`), "ignored: own: a comment of bob"},
		{"own app's login", commentBody("created", "/oneslot", "", "ours[bot]", "ours[bot]", ""), "ignored: own: a comment of ours[bot]"},
		{"another app", commentBody("created", "/oneslot", "", "bob", "bob", `,"performed_via_github_app":{"id":78,"slug":"y"}`), "command" + ref},
		{"own, edited by somebody", commentBody("edited", "/oneslot", "x", "our-bot", "bob", ""), "ignored: own: a comment of our-bot"},
		{"an edit that asks", commentBody("edited", "/oneslot", "/onslot", "bob", "bob", ""), "command" + ref},
		{"an edit that asked before", commentBody("edited", "/oneslot\nplease", "/oneslot", "bob", "bob", ""), "comment" + ref},
		{"an edit of who knows what", commentBody("edited", "/oneslot", "", "bob", "bob", ""), "comment" + ref},
		{"an edit of nothing", commentBody("edited", "a", "a", "bob", "bob", ""), "ignored: nothing of the text changed"},
		{"deleted", commentBody("deleted", "/oneslot", "", "bob", "bob", ""), `ignored: action "deleted" of a comment is of no use`},
	} {
		if got := kinds(parse(t, h, "issue_comment", c.body)); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
	e := parse(t, h, "issue_comment", commentBody("created", "/oneslot fix it\u202e\r\nnow", "", "bob", "bob", "")).Events[0]
	if e.Facts.Command != "/oneslot fix it\ufffd" || !e.Facts.Pull || e.Facts.Association != "member" || e.Facts.Comment != "9" || e.Facts.Author != "ann" {
		t.Errorf("facts %+v", e.Facts)
	}
	// C42: the association is of who acted, not of who wrote what was edited.
	e = parse(t, h, "issue_comment", commentBody("edited", "/oneslot", "x", "bob", "eve", "")).Events[0]
	if e.Facts.Association != "" || e.Facts.Actor != "eve" {
		t.Errorf("facts %+v", e.Facts)
	}
}

// C31: own changes start nothing, but checks on what was pushed do.
func TestC31_OwnChanges(t *testing.T) {
	h := testHook(GitHub)
	h.Own = Own{Logins: []string{"codertocat"}, Apps: []string{"28"}}
	for _, r := range rows(t) {
		if r.forge != GitHub {
			continue
		}
		p := r.parse(t, h)
		for _, e := range p.Events {
			if e.Facts.Actor == "Codertocat" && e.Kind != slot.CIFailed && e.Kind != slot.CIPassed {
				t.Errorf("%s: %s", r.file, e.Kind)
			}
		}
		if strings.HasPrefix(r.file, "github/26") && kinds(p) != "ci_failed github.com/codertocat/hello-world#2" {
			t.Errorf("a failing check: %s", kinds(p))
		}
	}
	const own = `{"action":"completed","check_run":{"head_sha":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","status":"completed","conclusion":"failure","app":{"id":28}},` + where + `}`
	if got := kinds(parse(t, h, "check_run", own)); got != "ignored: own: a check of app 28" {
		t.Errorf("own check: %s", got)
	}
}

// C31: what oneslot writes and sets wakes nobody, by whatever account.
func TestC31_OurMarkersAndLabels(t *testing.T) {
	h := testHook(GitHub)
	h.Labels = []string{"oneslot: running"}
	for _, c := range []struct{ event, body, want string }{
		{"issue_comment", `"action":"created","issue":{"number":1},"comment":{"id":5,"user":{"login":"ann"},"body":"<!-- oneslot:ticket v1 -->\nx"}`, "ignored: own: a comment of oneslot's, by ann"},
		{"issues", `"action":"labeled","issue":{"number":1,"updated_at":"2026-01-02T03:04:05Z"},"label":{"name":"oneslot: running"}`, "ignored: own: the label oneslot: running is oneslot's"},
		{"issues", `"action":"labeled","issue":{"number":1,"updated_at":"2026-01-02T03:04:05Z"},"label":{"name":"bug"}`, "labeled github.com/octo/hello#1"},
	} {
		if got := kinds(parse(t, h, c.event, "{"+c.body+","+where+"}")); got != c.want {
			t.Errorf("%s: %s; want %s", c.body, got, c.want)
		}
	}
}

func pullOf(n, head, base int) string {
	return fmt.Sprintf(`{"number":%d,"head":{"ref":"f","repo":{"id":%d}},"base":{"ref":"main","repo":{"id":%d}}}`, n, head, base)
}

// C28, C29: one event for each pull request that a check names, and one of the
// commit if it names none.
func TestC29_Checks(t *testing.T) {
	const sha = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
	run := func(conclusion, pulls string) string {
		return fmt.Sprintf(`{"action":"completed","check_run":{"id":4,"name":"ci","head_sha":%q,"status":"completed","conclusion":%q,
			"completed_at":"2026-01-02T03:04:05Z","pull_requests":[%s]},%s}`, sha, conclusion, pulls, where)
	}
	for _, c := range []struct{ name, body, want string }{
		{"two", run("failure", pullOf(12, 1, 1)+","+pullOf(15, 1, 1)), "ci_failed github.com/octo/hello#12, ci_failed github.com/octo/hello#15"},
		{"none", run("failure", ""), "ci_failed"},
		{"from a fork", run("failure", pullOf(12, 2, 1)), "ci_failed github.com/octo/hello#12"},
		{"to another repository", run("failure", pullOf(12, 1, 2)), "ci_failed"},
		{"odd number", run("failure", `{"number":-1}`), "ci_failed"},
		{"passed", run("success", ""), "ci_passed"},
		{"timed out", run("timed_out", ""), "ci_failed"},
		{"asks for something", run("action_required", ""), "ci_failed"},
		{"cancelled", run("cancelled", ""), `ignored: a check that is "cancelled" has neither passed nor failed`},
	} {
		p := parse(t, testHook(GitHub), "check_run", c.body)
		if got := kinds(p); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
		for _, e := range p.Events {
			if e.Sha != sha || e.Repo != "github.com/octo/hello" || e.Facts.Fork != (c.name == "from a fork") {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
	}
	if got := kinds(parse(t, testHook(GitHub), "check_run", strings.Replace(run("failure", ""), sha, "x", 1))); !strings.HasPrefix(got, "ignored") {
		t.Errorf("no commit: %s", got)
	}
}

// A head that was pushed to refs/for/BRANCH is on no branch, and counts as a fork's: a
// stranger may push there. A branch that is gone keeps its label.
func TestAGitIsAFork(t *testing.T) {
	for _, c := range []struct {
		forge, head string
		fork        bool
		branch      string
	}{
		{Forgejo, `"label":"","ref":"refs/pull/5/head"`, true, ""},
		{Gitea, `"label":"","ref":"eve/topic"`, true, ""},
		{Gitea, `"label":"topic","ref":"topic"`, false, "topic"},
		{Forgejo, `"label":"topic","ref":"refs/pull/5/head"`, false, "refs/pull/5/head"},
		{GitHub, `"label":"octo:topic","ref":"topic"`, false, "topic"},
		{GitHub, `"ref":"topic"`, false, "topic"},
	} {
		body := fmt.Sprintf(`{"action":"synchronized","pull_request":{"number":5,"updated_at":"2026-01-02T03:04:05Z","user":{"login":"eve"},
			"head":{%s,"sha":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","repo":{"id":1}},
			"base":{"label":"main","ref":"main","repo":{"id":1}}},"sender":{"login":"eve"},%s}`, c.head, where)
		p := parse(t, testHook(c.forge), "pull_request", body)
		if len(p.Events) != 1 || p.Events[0].Facts.Fork != c.fork || p.Events[0].Facts.Branch != c.branch {
			t.Errorf("%s, %s: %+v", c.forge, c.head, p)
		}
	}
	// Of what a check names, Gitea does not tell the two apart: the forge is asked.
	run := fmt.Sprintf(`{"action":"completed","workflow_run":{"id":4,"name":"ci","head_sha":"6113728f27ae82c7b1a177c8d03f9e96e0adf246",
		"status":"completed","conclusion":"failure","pull_requests":[%s]},%s}`, pullOf(5, 1, 1), where)
	if got := kinds(parse(t, testHook(Gitea), "workflow_run", run)); got != "ci_failed" {
		t.Errorf("a check: %s", got)
	}
}

// Fingerprints: the same delivery again has the same, and another occurrence another.
func TestFingerprints(t *testing.T) {
	seen := map[string]string{}
	for _, r := range rows(t) {
		for _, e := range r.parse(t, testHook(r.forge)).Events {
			again := r.parse(t, testHook(r.forge)).Events[0].Fingerprint
			if e.Fingerprint == "" && r.forge != Gogs && e.Kind != slot.Labeled && e.Kind != slot.Assigned {
				t.Errorf("%s: %s has none", r.file, e.Kind)
			}
			if strings.HasPrefix(r.file, "gitea-recorded/") && e.Fingerprint != "" {
				// All of one server, and each its own occurrence.
				key := e.Ref.String() + e.Fingerprint
				if other := seen[key]; other != "" || e.Fingerprint != again {
					t.Errorf("%s is like %s: %s", r.file, other, key)
				}
				seen[key] = r.file
			}
		}
	}
	// GitHub runs a failed job again: the same workflow run, another attempt.
	try := func(n int) string {
		return parse(t, testHook(GitHub), "workflow_run", fmt.Sprintf(`{"action":"completed","workflow_run":{"id":4,"run_attempt":%d,
			"head_sha":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","conclusion":"failure"},%s}`, n, where)).Events[0].Fingerprint
	}
	if try(1) == try(2) {
		t.Error("attempts are not told apart")
	}
}

// C40: a repository that moved.
func TestC40_Moved(t *testing.T) {
	for _, c := range []struct {
		forge, event, body string
		want               Moved
	}{
		{GitHub, "repository", `{"action":"renamed","changes":{"repository":{"name":{"from":"Old"}}},"repository":{"id":7,"name":"New","full_name":"Octo/New","owner":{"login":"Octo"}}}`,
			Moved{"7", "github.com/octo/old", "github.com/octo/new"}},
		{GitHub, "repository", `{"action":"transferred","changes":{"owner":{"from":{"organization":{"login":"Was"}}}},"repository":{"id":7,"name":"New","full_name":"Octo/New"}}`,
			Moved{"7", "github.com/was/new", "github.com/octo/new"}},
		{GitLab, "System Hook", string(read(t, "gitlab/19-system.project_transfer.json")),
			Moved{"73", "gitlab.com/jsmith/overscore", "gitlab.com/scores/underscore"}},
	} {
		p := parse(t, testHook(c.forge), c.event, c.body)
		if p.Moved == nil || *p.Moved != c.want || len(p.Events) > 0 {
			t.Errorf("%+v; want %+v", p.Moved, c.want)
		}
	}
}

// C44: GitLab's changes, each with the counter of its own kind.
func TestC44_GitLab(t *testing.T) {
	const project = `"project":{"id":5,"path_with_namespace":"A/b/C","visibility_level":0}`
	mr := func(changes, more string) string {
		return fmt.Sprintf(`{"object_kind":"merge_request","user":{"id":2,"username":"ann"},%s,"object_attributes":{"id":900,"iid":1,"action":"update",
			"updated_at":"2026-01-02 03:04:05 UTC","source_project_id":5,"target_project_id":5%s},"changes":{%s}}`, project, more, changes)
	}
	const ref = " gitlab.com/a/b/c!1"
	for _, c := range []struct{ name, body, want string }{
		{"ready", mr(`"draft":{"previous":true,"current":false},"title":{"previous":"Draft: x","current":"x"}`, ""), "ready" + ref},
		{"reviewer", mr(`"reviewers":{"previous":[],"current":[{"id":1,"username":"bob","state":"unreviewed"}]}`, ""), "review_requested" + ref},
		{"reviewer asked again", mr(`"reviewers":{"previous":[{"id":1,"state":"reviewed"}],"current":[{"id":1,"state":"unreviewed","re_requested":true}]}`, ""), "review_requested" + ref},
		{"changes requested", mr(`"reviewers":{"previous":[{"id":1,"state":"unreviewed"}],"current":[{"id":1,"state":"requested_changes"}]}`, ""), "changes_requested" + ref},
		{"assigned", mr(`"assignees":{"previous":[{"id":1}],"current":[{"id":1},{"id":2,"username":"bob"}]}`, ""), "assigned" + ref},
		{"two assigned", mr(`"assignees":{"previous":[{"id":1}],"current":[{"id":2,"username":"bob"},{"id":3,"username":"eve"}]}`, ""), "assigned" + ref + ", assigned" + ref},
		{"unassigned", mr(`"assignees":{"previous":[{"id":1}],"current":[]}`, ""), "ignored: an update of no use"},
		{"label off", mr(`"labels":{"previous":[{"title":"x"}],"current":[]}`, ""), "ignored: an update of no use"},
		{"two labels", mr(`"labels":{"previous":[],"current":[{"title":"x"},{"title":"y"}]}`, ""), "labeled" + ref + ", labeled" + ref},
		{"approved", strings.Replace(mr("", ""), `"update"`, `"approved"`, 1), "approved" + ref},
		{"note on a change", `{"object_kind":"note","user":{"username":"ann"},` + project + `,"object_attributes":{"id":3,"note":"x","type":"DiffNote"},"merge_request":{"iid":1}}`, "review_comment" + ref},
		{"command", `{"object_kind":"note","user":{"username":"ann"},` + project + `,"object_attributes":{"id":3,"note":"/oneslot","action":"create"},"issue":{"iid":1}}`, "command gitlab.com/a/b/c#1"},
		{"edited command", `{"object_kind":"note","user":{"username":"ann"},` + project + `,"object_attributes":{"id":3,"note":"/oneslot","action":"update"},"issue":{"iid":1}}`, "comment gitlab.com/a/b/c#1"},
		{"system note", `{"object_kind":"note","user":{"username":"ann"},` + project + `,"object_attributes":{"id":3,"note":"/oneslot","system":true},"issue":{"iid":1}}`, "ignored: GitLab's own note of a change"},
		{"job", `{"object_kind":"build","sha":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","build_status":"failed","build_name":"test",` + project + `}`, "ci_failed"},
		{"job that may fail", `{"object_kind":"build","sha":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","build_status":"failed","build_allow_failure":true,` + project + `}`, "ignored: a job that is allowed to fail"},
	} {
		if got := kinds(parse(t, testHook(GitLab), "Any Hook", c.body)); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
	if u := (gitlabUser{Username: "project_12_bot_ab"}); !u.bot() {
		t.Error("a token's user is a bot")
	}
}

// The host of a ref is the configured one; a payload's is only a name.
func TestHost(t *testing.T) {
	for _, c := range []struct{ forge, host, web, want string }{
		{Gitea, "git.example.com", "https://evil.example/a/b", "git.example.com/a/b#1"},
		{Gitea, "", "http://Try.Gitea.IO:3000/a/b", "try.gitea.io:3000/a/b#1"},
		{Gitea, "", "http://user:pw@git.example.com/a/b", "git.example.com/a/b#1"},
		{Gitea, "", "http://[::1]/a/b", ""},
		{Gitea, "", "", ""},
		{GitHub, "", "https://ghe.example.com/a/b", "github.com/a/b#1"},
	} {
		h := testHook(c.forge)
		h.Host = c.host
		p := parse(t, h, "issues", fmt.Sprintf(`{"action":"opened","issue":{"number":1},"repository":{"full_name":"a/b","html_url":%q}}`, c.web))
		if got := p.About.Ref.String(); got != c.want || (p.Ignored == "") != (c.want != "") {
			t.Errorf("%s: %q, %q", c.web, got, p.Ignored)
		}
	}
}
