package forgetest

import (
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

func readTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"Thread/Issue": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "a title", "a body\nof two lines")
			s.w.Label(at, "bug", true, "octo")
			s.w.Label(at, "help wanted", true, "octo")
			s.w.Edit(at, func(t *Thread) { t.Assignees = []string{"octo"} })
			s.w.AddComment(at, "alice", "one")
			s.w.Lock(at, true, "octo")
			got := s.thread(at)
			want, _ := s.w.Thread(at)
			same(s, "ref", got.Ref, s.ref(at))
			same(s, "pull", got.Pull, false)
			same(s, "state", got.State, forge.Open)
			same(s, "title", got.Title, "a title")
			same(s, "body", got.Body, "a body\nof two lines")
			same(s, "author", got.Author.Login, "alice")
			list(s, "labels", got.Labels, []string{"bug", "help wanted"})
			list(s, "assignees", got.Assignees, []string{"octo"})
			if got.Comments != -1 {
				same(s, "comments", got.Comments, 1)
			}
			if s.can.Locks {
				same(s, "locked", got.Locked, true)
			}
			in, _ := s.w.Repo(repoPath)
			if got.RepoID != "" {
				same(s, "repository's id", got.RepoID, strconv.FormatInt(in.ID, 10))
			}
			about(s, "created", got.Created, want.Created)
			about(s, "updated", got.Updated, want.Updated)
			if read, err := time.Parse(time.RFC3339, got.UpdatedText); err != nil || !read.Equal(got.Updated) {
				s.Errorf("updated text %q is not %v", got.UpdatedText, got.Updated)
			}
			same(s, "closed", got.Closed.IsZero(), true)
			same(s, "fork", got.Fork(), false)
		},
		"Thread/ClosedIssue": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			s.w.Close(at, "octo")
			got := s.thread(at)
			same(s, "state", got.State, forge.Closed)
			about(s, "closed", got.Closed, s.w.Now())
			s.w.Reopen(at, "octo")
			same(s, "state", s.thread(at).State, forge.Open)
		},
		"Thread/Bot": func(s *suite) {
			at := s.w.AddIssue(repoPath, s.bot, "x", "")
			same(s, "a bot", s.thread(at).Author.Bot, true)
			same(s, "a person", s.thread(s.w.AddIssue(repoPath, "alice", "x", "")).Author.Bot, false)
		},
		"C30/Thread/Pull": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "a change", "feature")
			s.w.Edit(at, func(t *Thread) { t.Body, t.Reviewers = "fixes nothing", []string{"octo"} })
			want, _ := s.w.Thread(at)
			got := s.thread(at)
			same(s, "ref", got.Ref, s.ref(at))
			same(s, "pull", got.Pull, true)
			same(s, "state", got.State, forge.Open)
			if s.kind == Gogs { // it tells no more; unknown ends count as a fork
				same(s, "fork", got.Fork(), true)
				return
			}
			same(s, "head", got.Head, forge.End{Repo: s.repo, Branch: "feature", Sha: want.Head.Sha})
			same(s, "base", got.Base.Repo+" "+got.Base.Branch, s.repo+" main")
			same(s, "fork", got.Fork(), false)
			same(s, "draft", got.Draft, false)
			same(s, "mergeable", got.Mergeable, "clean")
			same(s, "merge commit", got.MergeSha, "")
			list(s, "reviewers", got.Reviewers, []string{"octo"})
			head := s.w.Push(at)
			same(s, "pushed head", s.thread(at).Head.Sha, head)
		},
		"Thread/Fork": func(s *suite) {
			s.w.AddRepo("stranger/hello")
			at := s.w.AddPull(repoPath, "stranger", "a change", "feature")
			s.w.Edit(at, func(t *Thread) { t.Head.Repo = "stranger/hello" })
			got := s.thread(at)
			same(s, "fork", got.Fork(), true)
			if s.kind != Gogs {
				same(s, "head", got.Head.Repo, s.host+"/stranger/hello")
			}
			s.w.Edit(at, func(t *Thread) { t.Head.Repo = "" })
			got = s.thread(at)
			same(s, "fork that is gone", got.Fork(), true)
		},
		// refs/for takes no right to write, so nothing there is the repository's own.
		"Thread/AGit": func(s *suite) {
			if s.kind != Gitea && s.kind != Forgejo {
				s.Skip("there is no refs/for")
			}
			at := s.w.AddPull(repoPath, "stranger", "a change", "stranger/topic")
			s.w.Edit(at, func(t *Thread) { t.AGit = true })
			sha := s.must(at).Head.Sha
			byHead, err := s.c.PullsByHead(s.Context(), s.repo, sha)
			s.need(err)
			open, err := s.c.Open(s.Context(), s.repo)
			s.need(err)
			changed, err := s.c.Changed(s.Context(), s.repo, time.Time{}, forge.Seen{})
			s.need(err)
			for what, list := range map[string][]forge.Thread{
				"thread": {s.thread(at)}, "by head": byHead, "open": open, "changed": changed.Threads,
			} {
				if len(list) != 1 {
					s.Fatalf("%s: %+v", what, list)
				}
				same(s, what+": fork", list[0].Fork(), true)
				same(s, what+": head", list[0].Head, forge.End{Sha: sha})
			}
		},
		"C41/Thread/Draft": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "a change", "feature")
			s.w.Edit(at, func(t *Thread) { t.Draft = true })
			got := s.thread(at)
			same(s, "draft", got.Draft, true)
			if got.Mergeable == "conflict" {
				s.Error("a draft is no conflict")
			}
			s.w.Edit(at, func(t *Thread) { t.Draft = false })
			same(s, "ready", s.thread(at).Draft, false)
		},
		"Thread/Conflict": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "a change", "feature")
			s.w.Edit(at, func(t *Thread) { t.Mergeable = "conflict" })
			if got := s.thread(at); s.kind != Gogs {
				same(s, "mergeable", got.Mergeable, "conflict")
			}
		},
		"C27/Thread/MergedAndNot": func(s *suite) {
			yes, no := s.w.AddPull(repoPath, "alice", "x", "one"), s.w.AddPull(repoPath, "alice", "y", "two")
			s.w.Merge(yes, "octo")
			s.w.Close(no, "octo")
			got, want := s.thread(yes), s.must(yes)
			same(s, "state", got.State, forge.Merged)
			if s.kind != Gogs {
				same(s, "merge commit", got.MergeSha, want.MergeSha)
			}
			about(s, "merged", got.Closed, want.Closed)
			got = s.thread(no)
			same(s, "state", got.State, forge.Closed)
			same(s, "merge commit", got.MergeSha, "")
		},
		"C44/Thread/NumbersOfIssuesAndPulls": func(s *suite) {
			issue, pull := s.w.AddIssue(repoPath, "alice", "an issue", ""), s.w.AddPull(repoPath, "alice", "a change", "f")
			if s.kind == GitLab {
				same(s, "both are", issue.Number, pull.Number)
			}
			same(s, "issue", s.thread(issue).Title, "an issue")
			same(s, "pull", s.thread(pull).Title, "a change")
			same(s, "refs differ", s.thread(issue).Ref == s.thread(pull).Ref, false)
		},
		"C40/Thread/Renamed": func(s *suite) {
			if s.kind == Gogs {
				s.Skip("Gogs forgets old names")
			}
			at := s.w.AddIssue(repoPath, "alice", "an issue", "")
			pull := s.w.AddPull(repoPath, "alice", "a change", "f")
			for _, name := range []string{"octo/hallo", "other/hello", "other/Welt"} { // renamed, moved, both
				s.w.Rename(repoPath, name)
				now := s.w.Ref(s.host, At{Repo: name, Number: at.Number})
				got := s.thread(at)
				same(s, "ref", got.Ref, now)
				same(s, "title", got.Title, "an issue")
				if p := s.thread(pull); p.Pull {
					same(s, "ref", p.Ref.Repo(), now.Repo())
					same(s, "head's repository", p.Head.Repo, now.Repo())
				}
				r, err := s.c.Repo(s.Context(), s.repo)
				s.need(err)
				same(s, "repository", r.Name, now.Repo())
				if cs, err := s.c.Comments(s.Context(), s.ref(at)); err != nil || len(cs.List) != 0 {
					s.Errorf("comments by the old name: %v, %v", cs.List, err)
				}
			}
		},
		"C40/Thread/MovedIssue": func(s *suite) {
			if s.kind != GitHub && s.kind != GitLab {
				s.Skip("issues cannot be moved there")
			}
			s.w.AddRepo("octo/other")
			s.w.AddIssue("octo/other", "alice", "first there", "")
			at := s.w.AddIssue(repoPath, "alice", "an issue", "")
			to := s.w.MoveIssue(at, "octo/other")
			got := s.thread(at)
			same(s, "ref", got.Ref, s.ref(to))
			same(s, "state", got.State, forge.Open)
			same(s, "title", got.Title, "an issue")
		},
		"C40/Repo": func(s *suite) {
			in, _ := s.w.Repo(repoPath)
			got, err := s.c.Repo(s.Context(), s.repo)
			s.need(err)
			same(s, "id", got.ID, strconv.FormatInt(in.ID, 10))
			same(s, "name", got.Name, s.repo)
			same(s, "default", got.Default, "main")
			same(s, "public", got.Public, true)
			same(s, "archived", got.Archived, false)
			s.w.AddRepo("octo/Secret")
			s.w.EditRepo("octo/Secret", func(r *Repo) { r.Public, r.Archived, r.Default = false, true, "trunk" })
			got, err = s.c.Repo(s.Context(), s.host+"/octo/secret")
			s.need(err)
			same(s, "name", got.Name, s.host+"/octo/secret")
			same(s, "public", got.Public, false)
			same(s, "archived", got.Archived, true)
			same(s, "default", got.Default, "trunk")
		},
		"Me": func(s *suite) {
			got, err := s.c.Me(s.Context())
			s.need(err)
			same(s, "login", got, "octo")
			got, err = s.connect(s, s.api, readerToken).Me(s.Context())
			s.need(err)
			same(s, "login", got, "reader")
		},
		"Capabilities": func(s *suite) {
			same(s, "lags", s.can.Lags, s.kind == GitHub || s.kind == GitLab)
			same(s, "etags", s.can.ETags, s.kind == GitHub)
			same(s, "locks", s.can.Locks, s.kind != Forgejo && s.kind != Gogs)
			if s.can.Limits.Comment < 4096 || s.can.Limits.Label < 20 {
				s.Errorf("limits %+v are too small for a marker", s.can.Limits)
			}
		},
	}
}

func (s *suite) must(at At) Thread {
	t, ok := s.w.Thread(at)
	if !ok {
		s.Fatalf("no thread %+v", at)
	}
	return t
}
