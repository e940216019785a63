package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

func factTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"Checks/NewestOfEachName": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			sha := s.must(at).Head.Sha
			none, err := s.c.Checks(s.Context(), s.repo, sha)
			s.need(err)
			same(s, "none", len(none), 0)
			first := s.w.SetCheck(sha, Check{Name: "build", State: forge.Failure})
			s.w.SetCheck(sha, Check{Name: "lint", State: forge.Pending})
			s.w.SetCheck(sha, Check{Name: "docs", State: forge.Neutral})
			s.pass(time.Minute)
			s.w.SetCheck(sha, Check{Name: "build", State: forge.Success})
			s.w.SetCheck(sha, Check{Name: "test: a / b", State: forge.Failure})
			s.w.SetCheck(s.w.NewSha(), Check{Name: "elsewhere", State: forge.Failure})
			got, err := s.c.Checks(s.Context(), s.repo, sha)
			s.need(err)
			var said []string
			for _, c := range got {
				said = append(said, c.Name+"="+c.State)
				if c.Result == "" || c.ID == "" || c.Name == "build" && c.ID == fmt.Sprint(first.ID) && c.Again == "" {
					s.Errorf("%+v tells too little", c)
				}
			}
			list(s, "checks", said, []string{"build=success", "lint=pending", "docs=neutral", "test: a / b=failure"})
		},
		"Checks/OfABranch": func(s *suite) {
			for _, branch := range []string{"main", "release/1"} {
				s.w.EditRepo(repoPath, func(r *Repo) { r.Default = branch })
				for _, state := range []string{forge.Failure, forge.Success} {
					sha := s.w.AddCommit(repoPath, "x").Sha
					s.w.SetCheck(sha, Check{Name: "build", State: state, App: "ci"})
					s.w.SetCheck(sha, Check{Name: "pipeline", State: state})
					got, err := s.c.Checks(s.Context(), s.repo, branch)
					s.need(err)
					var said []string
					for _, c := range got {
						said = append(said, c.Name+"="+c.State)
					}
					list(s, "checks", said, []string{"build=" + state, "pipeline=" + state})
				}
			}
		},
		"Checks/RunAgainDiffers": func(s *suite) {
			sha := s.must(s.w.AddPull(repoPath, "alice", "x", "f")).Head.Sha
			told := map[string]bool{}
			for range 3 {
				s.w.SetCheck(sha, Check{Name: "build", State: forge.Failure})
				s.pass(time.Minute)
				got, err := s.c.Checks(s.Context(), s.repo, sha)
				s.need(err)
				if len(got) != 1 {
					s.Fatalf("%+v", got)
				}
				told[got[0].ID+" "+got[0].Again] = true
			}
			same(s, "different results", len(told), 3)
		},
		"Checks/AllPages": func(s *suite) {
			sha := s.must(s.w.AddPull(repoPath, "alice", "x", "f")).Head.Sha
			for i := range 130 {
				s.w.SetCheck(sha, Check{Name: fmt.Sprintf("check %d", i), State: forge.Success})
			}
			s.w.SetCheck(sha, Check{Name: "the last", State: forge.Failure})
			got, err := s.c.Checks(s.Context(), s.repo, sha)
			s.need(err)
			same(s, "checks", len(got), 131)
			same(s, "the last is there", slices.ContainsFunc(got, func(c forge.Check) bool { return c.State == forge.Failure }), true)
		},
		"Reviews/LastWordOfEach": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			s.w.AddReview(at, "bob", "changes_requested", "no")
			s.pass(time.Minute)
			s.w.AddReview(at, "carol", "changes_requested", "not yet")
			s.pass(time.Minute)
			s.w.AddReview(at, "bob", "approved", "fine")
			s.pass(time.Minute)
			if s.kind != GitLab { // there, who comments takes nothing back, and is told otherwise
				s.w.AddReview(at, "carol", "commented", "by the way")
			}
			got, err := s.c.Reviews(s.Context(), s.ref(at))
			s.need(err)
			same(s, "known", got.Known, s.can.Threads)
			said := map[string][]string{}
			for _, r := range got.Reviews {
				if r.State != "commented" {
					said[r.Author.Login] = append(said[r.Author.Login], r.State)
				}
				if r.At.IsZero() || r.UpdatedText == "" {
					s.Errorf("%+v has no time", r)
				}
			}
			same(s, "bob", strings.Join(said["bob"], ","), "approved")
			same(s, "carol", strings.Join(said["carol"], ","), "changes_requested")
		},
		"Reviews/UnresolvedThreads": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			open, done := s.w.AddTalk(at, "bob", "why?"), s.w.AddTalk(at, "bob", "typo")
			s.w.Answer(at, open, "carol", "yes, why?")
			s.w.Answer(at, done, "alice", "fixed")
			s.w.Resolve(at, done)
			got, err := s.c.Reviews(s.Context(), s.ref(at))
			s.need(err)
			if !s.can.Threads {
				same(s, "known", got.Known, false)
				return
			}
			if len(got.Unresolved) != 1 {
				s.Fatalf("unresolved: %+v", got.Unresolved)
			}
			last := got.Unresolved[0].Last
			same(s, "last", last.Author.Login+": "+last.Body, "carol: yes, why?")
			same(s, "it has an id", got.Unresolved[0].ID != "" && last.ID != 0, true)
		},
		"Reviews/AllPages": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			for i := range 120 {
				s.w.AddReview(at, fmt.Sprintf("bob-%d", i), "approved", "")
			}
			got, err := s.c.Reviews(s.Context(), s.ref(at))
			s.need(err)
			if s.kind != GitLab {
				same(s, "reviews", len(got.Reviews), 120)
			}
		},
		// A draft is not said yet, and hides nothing of what is; then it counts from when it
		// was given.
		"Reviews/Draft": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			s.w.AddReview(at, "bob", "approved", "")
			id := s.w.AddDraft(at, "carol", "why?")
			own := s.w.AddDraft(at, "octo", "hm") // the client's own
			got, err := s.c.Reviews(s.Context(), s.ref(at))
			s.need(err)
			same(s, "reviews", len(got.Reviews), 1)
			same(s, "unresolved", len(got.Unresolved), 0)
			s.pass(time.Hour)
			s.w.Submit(at, own, "commented", "well")
			s.pass(time.Hour)
			s.w.Submit(at, id, "approved", "fine")
			got, err = s.c.Reviews(s.Context(), s.ref(at))
			s.need(err)
			if i := slices.IndexFunc(got.Reviews, func(r forge.Review) bool { return r.Author.Login == "carol" }); i < 0 {
				s.Errorf("reviews: %+v", got.Reviews)
			} else {
				r := got.Reviews[i]
				same(s, "state", r.State, "approved")
				about(s, "given", r.At, s.w.Now())
				if told, err := time.Parse(time.RFC3339, r.UpdatedText); err != nil || !told.Equal(r.At) {
					s.Errorf("updated text %q is not %v", r.UpdatedText, r.At)
				}
			}
			if s.can.Threads {
				same(s, "unresolved", len(got.Unresolved), 2)
			}
			for _, talk := range got.Unresolved { // what else tells that the remark is new?
				if c := talk.Last; c.Author.Login == "carol" && s.kind != GitLab {
					shown := c.Created
					if c.Shown.After(shown) {
						shown = c.Shown
					}
					about(s, "the remark was shown", shown, s.w.Now())
				}
			}
		},
		// C28, C29: the open ones with that head, also from forks, and no others.
		"C29/PullsByHead": func(s *suite) {
			s.w.AddRepo("stranger/hello")
			one, fork := s.w.AddPull(repoPath, "alice", "one", "a"), s.w.AddPull(repoPath, "stranger", "two", "b")
			closed, merged := s.w.AddPull(repoPath, "alice", "three", "c"), s.w.AddPull(repoPath, "alice", "four", "d")
			s.w.AddPull(repoPath, "alice", "another head", "e")
			sha := s.must(one).Head.Sha
			for _, at := range []At{fork, closed, merged} {
				s.w.Edit(at, func(t *Thread) { t.Head.Sha = sha })
			}
			s.w.Edit(fork, func(t *Thread) { t.Head.Repo = "stranger/hello" })
			s.w.Close(closed, "alice")
			s.w.Merge(merged, "octo")
			got, err := s.c.PullsByHead(s.Context(), s.repo, sha)
			s.need(err)
			list(s, "pulls", refs(got), []string{s.ref(one).String(), s.ref(fork).String()})
			for _, t := range got {
				same(s, "head", t.Head.Sha, sha)
				same(s, "fork", t.Fork(), t.Ref == s.ref(fork))
			}
			got, err = s.c.PullsByHead(s.Context(), s.repo, s.w.NewSha())
			s.need(err)
			same(s, "of a head of nothing", len(got), 0)
		},
		"Closing": func(s *suite) {
			issue, other := s.w.AddIssue(repoPath, "alice", "x", ""), s.w.AddIssue(repoPath, "alice", "y", "")
			pull := s.w.AddPull(repoPath, "alice", "z", "f")
			s.w.Link(pull, issue)
			got, err := s.c.Closing(s.Context(), s.ref(issue))
			if !s.can.Links {
				s.unsupported(err)
				return
			}
			s.need(err)
			list(s, "closes the issue", refs(got), []string{s.ref(pull).String()})
			got, err = s.c.Closing(s.Context(), s.ref(pull))
			s.need(err)
			list(s, "closed by the pull", refs(got), []string{s.ref(issue).String()})
			got, err = s.c.Closing(s.Context(), s.ref(other))
			s.need(err)
			same(s, "closes the other", len(got), 0)
			s.w.Merge(pull, "octo")
			got, err = s.c.Closing(s.Context(), s.ref(issue))
			s.need(err)
			if len(got) != 1 || got[0].State != forge.Merged || !got[0].Pull {
				s.Errorf("after the merge: %+v", got)
			}
		},
		"Commits": func(s *suite) {
			got, more, err := s.c.Commits(s.Context(), s.repo, time.Time{})
			s.need(err)
			same(s, "of an empty branch", len(got), 0)
			same(s, "more", more, false)
			for i := range 60 {
				s.w.AddCommit(repoPath, fmt.Sprintf("old %d", i))
			}
			s.pass(time.Hour)
			since := s.w.Now().Add(-time.Minute)
			var want []string
			for i := range 70 {
				want = append(want, s.w.AddCommit(repoPath, fmt.Sprintf("new %d\n\nfixes #%d", i, i)).Sha)
			}
			slices.Reverse(want)
			got, more, err = s.c.Commits(s.Context(), s.repo, since)
			s.need(err)
			var shas []string
			for _, c := range got {
				shas = append(shas, c.Sha)
			}
			same(s, "commits, newest first", strings.Join(shas, " "), strings.Join(want, " "))
			same(s, "more", more, false)
			if len(got) > 0 {
				same(s, "message", got[0].Message, "new 69\n\nfixes #69")
				about(s, "time", got[0].At, s.w.Now())
			}
		},
		"Reopened": func(s *suite) {
			for _, at := range []At{s.w.AddIssue(repoPath, "alice", "x", ""), s.w.AddPull(repoPath, "alice", "x", "f")} {
				s.w.Label(at, "bug", true, "octo")
				s.w.AddComment(at, "alice", "please")
				s.w.Close(at, "octo")
				got, err := s.c.Reopened(s.Context(), s.ref(at))
				s.need(err)
				same(s, "never", got.IsZero(), true)
				for range 2 {
					s.pass(time.Hour)
					s.w.Reopen(at, "octo")
					at := s.must(at).At
					when := s.w.Now()
					s.pass(time.Hour)
					for i := range 60 {
						s.w.Label(at, fmt.Sprintf("label %d", i), true, "octo") // more pages
					}
					got, err = s.c.Reopened(s.Context(), s.ref(at))
					s.need(err)
					about(s, "reopened", got, when)
					s.w.Close(at, "octo")
				}
			}
		},
	}
}
