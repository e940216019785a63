package forgetest

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

func writeTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"Comment/WriteEditDelete": func(s *suite) {
			for _, at := range []At{s.w.AddIssue(repoPath, "alice", "x", ""), s.w.AddPull(repoPath, "alice", "x", "f")} {
				ref := s.ref(at)
				s.w.AddComment(at, "alice", "before")
				c, err := s.c.Comment(s.Context(), ref, "mine <!-- marker -->")
				s.need(err)
				same(s, "author", c.Author.Login, "octo")
				same(s, "body", c.Body, "mine <!-- marker -->")
				about(s, "created", c.Created, s.w.Now())
				updated := s.must(at).Updated
				s.pass(time.Hour)
				e, err := s.c.EditComment(s.Context(), ref, c.ID, "changed")
				s.need(err)
				same(s, "id stays", e.ID, c.ID)
				same(s, "body", e.Body, "changed")
				about(s, "created stays", e.Created, c.Created)
				about(s, "updated", e.Updated, s.w.Now())
				same(s, "an edit moves the thread's time", s.must(at).Updated.Equal(updated), true)
				all, err := s.c.Comments(s.Context(), ref)
				s.need(err)
				same(s, "list", strings.Join(texts(all.List), "|"), "before|changed")
				same(s, "ids agree", all.List[1].ID, c.ID)
				for range 2 { // twice is harmless
					if err := s.c.DeleteComment(s.Context(), ref, c.ID); err != nil {
						s.Fatal(err)
					}
				}
				all, err = s.c.Comments(s.Context(), ref)
				s.need(err)
				same(s, "list", strings.Join(texts(all.List), "|"), "before")
			}
		},
		"Comment/EditOfWhatIsGone": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			c := s.w.AddComment(at, "octo", "x")
			s.w.DeleteComment(c.ID)
			if _, err := s.c.EditComment(s.Context(), s.ref(at), c.ID, "y"); !errors.Is(err, forge.ErrNotFound) {
				s.Errorf("%v: want ErrNotFound", err)
			}
		},
		"Comment/AsLongAsDeclared": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			if _, err := s.c.Comment(s.Context(), s.ref(at), strings.Repeat("x", s.can.Limits.Comment)); err != nil {
				s.Error(err)
			}
		},
		// C46: a 404 says that a comment is gone only if its thread can be read.
		"C46/Comment/DeleteWithoutAccess": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			c := s.w.AddComment(at, "octo", "x")
			s.w.Inject(Fault{Status: http.StatusNotFound})
			if err := s.c.DeleteComment(s.Context(), s.ref(at), c.ID); !errors.Is(err, forge.ErrNotFound) {
				s.Errorf("%v: want ErrNotFound", err)
			}
			if err := s.c.RemoveLabel(s.Context(), s.ref(at), "bug"); !errors.Is(err, forge.ErrNotFound) {
				s.Errorf("label: %v: want ErrNotFound", err)
			}
		},
		// A write that is kept and answered 502, or not at all, is an error; it is made once.
		"Comment/KeptButNotAnswered": func(s *suite) {
			for _, fault := range []Fault{Stored(http.MethodPost), Lost(http.MethodPost)} {
				at := s.w.AddIssue(repoPath, "alice", "x", "")
				clear := s.w.Inject(fault)
				_, err := s.c.Comment(s.Context(), s.ref(at), "mine")
				clear()
				if err == nil || !errors.Is(err, slot.ErrUnknown) {
					s.Errorf("%+v: %v: want unknown", fault, err)
				}
				all, err := s.c.Comments(s.Context(), s.ref(at))
				s.need(err)
				same(s, "written", strings.Join(texts(all.List), "|"), "mine")
			}
		},
		"Comment/EditKeptButNotAnswered": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			c, err := s.c.Comment(s.Context(), s.ref(at), "mine")
			s.need(err)
			clear := s.w.Inject(Fault{Path: "/", Done: true, Status: http.StatusBadGateway})
			if _, err := s.c.EditComment(s.Context(), s.ref(at), c.ID, "changed"); !errors.Is(err, slot.ErrUnknown) {
				s.Errorf("edit: %v: want unknown", err)
			}
			clear()
			now, _ := s.w.Comment(c.ID)
			same(s, "kept", now.Body, "changed")
		},
		"Comment/LateCommit": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			s.w.SetReads(Reads{Commit: Range{100 * time.Millisecond, 100 * time.Millisecond}})
			c, err := s.c.Comment(s.Context(), s.ref(at), "mine")
			s.need(err)
			all, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			if len(all.List) != 1 || all.List[0].ID != c.ID {
				s.Errorf("after the answer it is there: %+v", all.List)
			}
		},
		// C40: by its old name, a thread is written to once, or for certain not at all.
		"C40/Comment/RenamedRepository": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			ref := s.ref(at)
			s.w.Rename(repoPath, "octo/hallo")
			c, err := s.c.Comment(s.Context(), ref, "mine")
			now := s.w.Comments(at)
			if s.kind == Gogs {
				same(s, "an error", err != nil, true)
				return
			}
			s.need(err)
			if len(now) != 1 || now[0].ID != c.ID {
				s.Fatalf("%+v", now)
			}
			if _, err := s.c.EditComment(s.Context(), ref, c.ID, "changed"); err != nil {
				s.Error(err)
			}
			if err := s.c.AddLabel(s.Context(), ref, "bug"); err != nil {
				s.Error(err)
			}
			if err := s.c.DeleteComment(s.Context(), ref, c.ID); err != nil {
				s.Error(err)
			}
			same(s, "deleted", len(s.w.Comments(at)), 0)
			list(s, "labels", s.must(at).Labels, []string{"bug"})
		},
		"Label": func(s *suite) {
			for _, at := range []At{s.w.AddIssue(repoPath, "alice", "x", ""), s.w.AddPull(repoPath, "alice", "x", "f")} {
				ref := s.ref(at)
				s.w.Label(at, "bug", true, "octo")
				for _, label := range []string{"oneslot: running", "oneslot/waits ½"} {
					for range 2 {
						if err := s.c.AddLabel(s.Context(), ref, label); err != nil {
							s.Fatal(err)
						}
					}
				}
				list(s, "added", s.must(at).Labels, []string{"bug", "oneslot: running", "oneslot/waits ½"})
				for range 2 {
					for _, label := range []string{"oneslot: running", "oneslot/waits ½"} {
						if err := s.c.RemoveLabel(s.Context(), ref, label); err != nil {
							s.Fatal(err)
						}
					}
				}
				list(s, "removed", s.must(at).Labels, []string{"bug"})
			}
		},
		"Lock": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			if !s.can.Locks {
				s.unsupported(s.c.Lock(s.Context(), s.ref(at)))
				s.unsupported(s.c.Unlock(s.Context(), s.ref(at)))
				return
			}
			for range 2 {
				if err := s.c.Lock(s.Context(), s.ref(at)); err != nil {
					s.Fatal(err)
				}
			}
			same(s, "locked", s.must(at).Locked, true)
			if _, err := s.c.Comment(s.Context(), s.ref(at), "a writer still may"); err != nil {
				s.Error(err)
			}
			if _, err := s.connect(s, s.api, readerToken).Comment(s.Context(), s.ref(at), "a reader may not"); err == nil {
				s.Error("a reader wrote on a locked thread")
			}
			for range 2 {
				if err := s.c.Unlock(s.Context(), s.ref(at)); err != nil {
					s.Fatal(err)
				}
			}
			same(s, "unlocked", s.must(at).Locked, false)
			same(s, "comments", len(s.w.Comments(at)), 1)
		},
		"WithoutTheRight": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			c := s.w.AddComment(at, "octo", "x")
			reader := s.connect(s, s.api, readerToken)
			for what, err := range map[string]error{
				"label": reader.AddLabel(s.Context(), s.ref(at), "bug"),
				"edit":  func() error { _, err := reader.EditComment(s.Context(), s.ref(at), c.ID, "y"); return err }(),
			} {
				if !errors.Is(err, slot.ErrUnknown) || errors.Is(err, forge.ErrLimited) {
					s.Errorf("%s: %v", what, err)
				}
			}
			same(s, "untouched", s.w.Comments(at)[0].Body, "x")
		},
	}
}
