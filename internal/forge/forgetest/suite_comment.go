package forgetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

func commentTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"C14/Comments/FoundOnAnyPage": func(s *suite) {
			for _, n := range []int{0, 1, 29, 30, 31, 99, 100, 101, 250} {
				at := s.w.AddIssue(repoPath, "alice", "x", "")
				marks := map[int]bool{0: true, n / 2: true, n - 1: true}
				var ids []int64
				for i := range n {
					body := fmt.Sprintf("comment %d", i)
					if marks[i] {
						body = "MARK"
					}
					ids = append(ids, s.w.AddComment(at, "alice", body).ID)
				}
				got, err := s.c.Comments(s.Context(), s.ref(at))
				s.need(err)
				same(s, fmt.Sprintf("length of %d", n), len(got.List), n)
				for i, c := range got.List {
					if i < len(ids) && (c.ID != ids[i] || (c.Body == "MARK") != marks[i]) {
						s.Fatalf("of %d, number %d is %+v", n, i, c)
					}
				}
				about(s, "the forge's clock", got.At, s.w.Now())
			}
		},
		"Comments/WhatTheyTell": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			first := s.w.AddComment(at, "reader", "a *body*\r\nwith `code`")
			s.w.AddComment(at, s.bot, "beep")
			s.pass(time.Minute)
			s.w.EditComment(first.ID, "edited")
			got, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			same(s, "texts", strings.Join(texts(got.List), "|"), "edited|beep")
			if len(got.List) != 2 {
				return
			}
			c := got.List[0]
			same(s, "id", c.ID, first.ID)
			same(s, "author", c.Author.Login, "reader")
			same(s, "person", c.Author.Bot, false)
			same(s, "bot", got.List[1].Author.Bot, true)
			about(s, "created", c.Created, first.Created)
			about(s, "updated", c.Updated, first.Created.Add(time.Minute))
			if c.UpdatedText == "" || c.Author.Association != "" && c.Author.Association != "none" {
				s.Errorf("%+v", c)
			}
			about(s, "the forge's clock", got.At, s.w.Now()) // and not ours
		},
		// The forge's clock is told, not ours: an hour's difference shows.
		"C22/Comments/ClockOfTheForge": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			s.pass(time.Hour)
			got, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			about(s, "clock", got.At, time.Now().Add(time.Hour))
		},
		"C15/Comments/ShorterThanItsCounter": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			for range 3 {
				s.w.AddComment(at, "alice", "x")
			}
			s.w.SetReads(Reads{Short: 1})
			s.w.Forget()
			_, err := s.c.Comments(s.Context(), s.ref(at))
			if !errors.Is(err, forge.ErrShort) || !errors.Is(err, slot.ErrUnknown) {
				s.Errorf("%v: want ErrShort", err)
			}
			if n, _ := s.w.Count("", ""); n < 3 || n > 30 {
				s.Errorf("%d requests: a short list is read again, a few times", n)
			}
		},
		"C15/Comments/LagThatPasses": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			s.w.AddComment(at, "alice", "old")
			s.w.SetReads(Reads{Lag: Range{150 * time.Millisecond, 400 * time.Millisecond}})
			s.w.AddComment(at, "alice", "new")
			got, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			same(s, "texts", strings.Join(texts(got.List), "|"), "old|new")
		},
		// A lower id that shows late makes the list short, as any other does.
		"C15/Comments/LowerIdShowsLate": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			s.w.SetReads(Reads{Of: func(c Comment) time.Duration {
				if c.Body == "lower" {
					return 400 * time.Millisecond
				}
				return 0
			}})
			s.w.AddComment(at, "alice", "lower")
			s.w.AddComment(at, "alice", "higher")
			got, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			same(s, "texts", strings.Join(texts(got.List), "|"), "lower|higher")
		},
		"Comments/DeletedOnesAreNotMissing": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			one := s.w.AddComment(at, "alice", "one")
			s.w.AddComment(at, "alice", "two")
			s.w.DeleteComment(one.ID)
			got, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			same(s, "texts", strings.Join(texts(got.List), "|"), "two")
		},
		// What counts as a comment differs: reviews never make the list look short.
		"Comments/BesideReviews": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			s.w.AddComment(at, "alice", "one")
			s.w.AddReview(at, "octo", "changes_requested", "no")
			s.w.AddReview(at, "octo", "approved", "yes")
			talk := s.w.AddTalk(at, "octo", "why?")
			for range 3 {
				s.w.Answer(at, talk, "alice", "because")
			}
			s.w.Unanswer(at, talk)
			s.w.AddDraft(at, "carol", "hm")
			got, err := s.c.Comments(s.Context(), s.ref(at))
			s.need(err)
			same(s, "texts", strings.Join(texts(got.List), "|"), "one")
		},
	}
}
