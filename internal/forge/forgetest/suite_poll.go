package forgetest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

func pollTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"Changed/OldestFirst": func(s *suite) {
			a, b := s.w.AddIssue(repoPath, "alice", "a", ""), s.w.AddPull(repoPath, "alice", "b", "f")
			s.pass(time.Minute)
			since := s.w.Now()
			c := s.w.AddIssue(repoPath, "alice", "c", "")
			s.pass(time.Minute)
			s.w.AddComment(a, "bob", "so old, and new again")
			s.pass(time.Minute)
			s.w.Merge(b, "octo")
			s.pass(time.Minute)
			s.w.Close(c, "octo")
			got, err := s.c.Changed(s.Context(), s.repo, since.Add(90*time.Second), forge.Seen{})
			s.need(err)
			same(s, "threads", strings.Join(refs(got.Threads), " "), fmt.Sprint(s.ref(b), " ", s.ref(c)))
			got, err = s.c.Changed(s.Context(), s.repo, since.Add(30*time.Second), forge.Seen{})
			s.need(err)
			same(s, "threads", strings.Join(refs(got.Threads), " "), fmt.Sprint(s.ref(a), " ", s.ref(b), " ", s.ref(c)))
			about(s, "clock", got.At, s.w.Now())
			for _, t := range got.Threads {
				want := s.must(map[string]At{s.ref(a).String(): a, s.ref(b).String(): b, s.ref(c).String(): c}[t.Ref.String()])
				same(s, "pull", t.Pull, want.Pull)
				same(s, "state", t.State, want.State)
				about(s, "updated", t.Updated, want.Updated)
				if t.UpdatedText == "" {
					s.Errorf("%s has no text of its time", t.Ref)
				}
			}
		},
		// since is inclusive, with the forge's resolution: what changed within its second
		// is there again, and never missed.
		"Changed/Inclusive": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "a", "")
			got, err := s.c.Changed(s.Context(), s.repo, s.thread(at).Updated, forge.Seen{})
			s.need(err)
			same(s, "threads", len(got.Threads), 1)
		},
		"Changed/AllPages": func(s *suite) {
			want := map[string]bool{}
			for i := range 130 {
				s.pass(time.Second)
				want[s.ref(s.w.AddIssue(repoPath, "alice", fmt.Sprint(i), "")).String()] = true
				if i%2 == 0 {
					want[s.ref(s.w.AddPull(repoPath, "alice", fmt.Sprint(i), "f")).String()] = true
				}
			}
			got, err := s.c.Changed(s.Context(), s.repo, time.Time{}, forge.Seen{})
			s.need(err)
			same(s, "threads", len(got.Threads), len(want))
			for i, t := range got.Threads {
				if !want[t.Ref.String()] || i > 0 && t.Updated.Before(got.Threads[i-1].Updated) {
					s.Fatalf("number %d is %s of %v", i, t.Ref, t.Updated)
				}
				delete(want, t.Ref.String())
			}
		},
		// A quiet repository costs one request; where the forge knows ETags, a free one.
		"Changed/Quiet": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "a", "")
			s.pass(time.Minute)
			since := s.w.Now()
			first, err := s.c.Changed(s.Context(), s.repo, since, forge.Seen{})
			s.need(err)
			same(s, "threads", len(first.Threads), 0)
			s.w.Forget()
			again, err := s.c.Changed(s.Context(), s.repo, since, first.Seen)
			s.need(err)
			all, unchanged := s.w.Count("", "")
			same(s, "requests", all, 1)
			same(s, "answered 304", unchanged == 1, s.can.ETags)
			same(s, "unchanged", again.Unchanged, s.can.ETags || s.kind == GitLab) // which is asked what changed last
			about(s, "clock", again.At, s.w.Now())
			s.w.AddComment(at, "bob", "hello")
			got, err := s.c.Changed(s.Context(), s.repo, since, again.Seen)
			s.need(err)
			same(s, "unchanged", got.Unchanged, false)
			same(s, "threads", len(got.Threads), 1)
		},
		"Open": func(s *suite) {
			var want []string
			for i := range 60 {
				issue, pull := s.w.AddIssue(repoPath, "alice", fmt.Sprint(i), ""), s.w.AddPull(repoPath, "alice", fmt.Sprint(i), "f")
				if i%10 == 0 {
					s.w.Close(issue, "octo")
					s.w.Merge(pull, "octo")
					continue
				}
				want = append(want, s.ref(issue).String(), s.ref(pull).String())
			}
			got, err := s.c.Open(s.Context(), s.repo)
			s.need(err)
			list(s, "open", refs(got), want)
			for _, t := range got {
				same(s, "state", t.State, forge.Open)
			}
		},
		"Repos": func(s *suite) {
			for i := range 120 {
				s.w.AddRepo(fmt.Sprintf("octo/Many-%d", i))
			}
			for _, globs := range [][]string{nil, {"octo/*"}, {"octo/hello", "octo/many-*"}, {"*/*"}} {
				got, err := s.c.Repos(s.Context(), globs)
				s.need(err)
				seen := map[string]bool{}
				for _, r := range got {
					seen[r.Name] = true
					if r.ID == "" || r.Default != "main" {
						s.Fatalf("%+v", r)
					}
				}
				same(s, fmt.Sprintf("%q: repositories", globs), len(seen), 121)
				same(s, "hello", seen[s.repo], true)
				same(s, "many", seen[s.host+"/octo/many-119"], true)
			}
			got, err := s.c.Repos(s.Context(), []string{"octo/hello", "octo/none", "nobody/*"})
			s.need(err)
			if len(got) == 0 { // what is not there is left out; the caller warns
				s.Error("one name that is not there hides the others")
			}
		},
		// What the token may not see is left out, however many there are.
		"Repos/SomeHidden": func(s *suite) {
			for i := range 140 {
				path := fmt.Sprintf("octo/many-%d", i)
				s.w.AddRepo(path)
				s.w.EditRepo(path, func(r *Repo) { r.Hidden = i < 130 })
			}
			for _, globs := range [][]string{nil, {"octo/*"}} {
				got, err := s.c.Repos(s.Context(), globs)
				s.need(err)
				same(s, fmt.Sprintf("%q: repositories", globs), len(got), 11)
			}
		},
		"C26/Redeliver": func(s *suite) {
			for _, d := range []Delivery{{GUID: "old", Event: "issues", Status: 500}} {
				s.w.AddDelivery(repoPath, d)
			}
			s.pass(time.Hour)
			since := s.w.Now()
			s.pass(time.Minute)
			failed := s.w.AddDelivery(repoPath, Delivery{GUID: "failed", Event: "issues", Status: 502})
			s.w.AddDelivery(repoPath, Delivery{GUID: "fine", Event: "issues", Status: 202})
			n, err := s.c.Redeliver(s.Context(), s.repo, since)
			if !s.can.Redelivers {
				s.unsupported(err)
				return
			}
			s.need(err)
			same(s, "asked for again", n, 1)
			for _, d := range s.w.Deliveries(repoPath) {
				same(s, d.GUID, d.Again > 0, d.ID == failed.ID)
			}
			s.w.Inject(Fault{Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`})
			_, err = s.c.Redeliver(s.Context(), s.repo, since)
			s.unsupported(err) // the token may not
		},
	}
}
