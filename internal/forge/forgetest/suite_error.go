package forgetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

func errorTests() map[string]func(*suite) {
	return map[string]func(*suite){
		// C46: whatever goes wrong is an error of its kind: never closed, never empty.
		"C46/Errors/NeverAnAnswer": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			s.w.AddComment(at, "alice", "x")
			for _, tt := range []struct {
				name  string
				fault Fault
				kind  error // nil: any
			}{
				{"404", Fault{Status: http.StatusNotFound}, forge.ErrNotFound},
				{"403", Fault{Status: http.StatusForbidden, Body: `{"message":"Resource not accessible"}`}, forge.ErrForbidden},
				{"401", Fault{Status: http.StatusUnauthorized}, forge.ErrUnauthorized},
				{"500", Fault{Status: http.StatusInternalServerError}, nil},
				{"502", Fault{Status: http.StatusBadGateway, Body: "<html>no</html>"}, nil},
				{"cut", Fault{Cut: true}, nil},
				{"broken off", Fault{Status: http.StatusOK, Body: `[{"id": 1, "nu`}, nil},
				{"not JSON", Fault{Status: http.StatusOK, Body: "<html>sign in</html>"}, nil},
			} {
				clear := s.w.Inject(tt.fault)
				for name, call := range s.calls(at) {
					err := call(s.Context())
					switch {
					case errors.Is(err, forge.ErrUnsupported) && tt.kind != forge.ErrUnsupported:
					case err == nil || !errors.Is(err, slot.ErrUnknown):
						s.Errorf("%s: %s: %v: want unknown", tt.name, name, err)
					case tt.kind != nil && !errors.Is(err, tt.kind):
						s.Errorf("%s: %s: %v: want %v", tt.name, name, err, tt.kind)
					case errors.Is(err, forge.ErrLimited):
						s.Errorf("%s: %s: %v: it is no limit", tt.name, name, err)
					}
				}
				clear()
			}
			same(s, "and then it can be read", s.thread(at).State, forge.Open) // a plain 403 stops nobody
		},
		"C46/Errors/WhatIsNotThere": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			for _, ref := range []slot.Ref{s.w.Ref(s.host, At{repoPath, 99, false}), s.w.Ref(s.host, At{"octo/none", at.Number, false})} {
				if _, err := s.c.Thread(s.Context(), ref); !errors.Is(err, forge.ErrNotFound) {
					s.Errorf("thread %s: %v", ref, err)
				}
				if _, err := s.c.Comments(s.Context(), ref); !errors.Is(err, forge.ErrNotFound) {
					s.Errorf("comments of %s: %v", ref, err)
				}
			}
			if _, err := s.c.Repo(s.Context(), s.host+"/octo/none"); !errors.Is(err, forge.ErrNotFound) {
				s.Errorf("repository: %v", err)
			}
		},
		"C46/Errors/TokenEnds": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			same(s, "state", s.thread(at).State, forge.Open)
			s.w.EndToken("octo")
			if _, err := s.c.Thread(s.Context(), s.ref(at)); !errors.Is(err, forge.ErrUnauthorized) {
				s.Errorf("%v: want ErrUnauthorized", err)
			}
		},
		"C46/Errors/RefOfAnotherHost": func(s *suite) {
			s.w.Forget()
			ref := s.w.Ref("elsewhere.example", At{repoPath, 1, false})
			if _, err := s.c.Thread(s.Context(), ref); !errors.Is(err, slot.ErrUnknown) {
				s.Errorf("%v: want an error", err)
			}
			if _, err := s.c.Repo(s.Context(), "elsewhere.example/octo/hello"); !errors.Is(err, slot.ErrUnknown) {
				s.Errorf("%v: want an error", err)
			}
			n, _ := s.w.Count("", "")
			same(s, "requests", n, 0)
		},
		// C45: a limit stops the whole client; a plain 403 is above.
		"C45/Errors/Limits": func(s *suite) {
			at := s.w.AddIssue(repoPath, "alice", "x", "")
			for name, fault := range map[string]Fault{
				"403 with Retry-After": Limited(http.StatusForbidden, "60"),
				"429":                  Limited(http.StatusTooManyRequests, "60"),
				"403, phrase only":     {Status: http.StatusForbidden, Body: `{"message":"You have exceeded a secondary rate limit."}`},
				"nothing remains":      Exhausted(http.StatusForbidden, strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10)),
				"429, nothing named":   {Status: http.StatusTooManyRequests},
			} {
				c := s.connect(s, s.api, writerToken) // a client of its own: it is stopped for good
				clear := s.w.Inject(fault)
				_, err := c.Thread(s.Context(), s.ref(at))
				clear()
				if !errors.Is(err, forge.ErrLimited) || !errors.Is(err, slot.ErrUnknown) {
					s.Errorf("%s: %v: want ErrLimited", name, err)
				}
				s.w.Forget()
				if _, err := c.Open(s.Context(), s.repo); !errors.Is(err, forge.ErrLimited) {
					s.Errorf("%s, then another call: %v: want ErrLimited", name, err)
				}
				if n, _ := s.w.Count("", ""); n != 0 {
					s.Errorf("%s: asked %d times while it lasts", name, n)
				}
			}
			c := s.connect(s, s.api, writerToken)
			clear := s.w.Inject(Exhausted(http.StatusForbidden, strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)))
			if _, err := c.Thread(s.Context(), s.ref(at)); !errors.Is(err, forge.ErrLimited) {
				s.Errorf("a reset in the past: %v: want ErrLimited", err)
			}
			clear()
			deadline := time.Now().Add(30 * time.Second)
			for {
				_, err := c.Thread(s.Context(), s.ref(at))
				if err == nil {
					break // it is over by itself
				}
				if !errors.Is(err, forge.ErrLimited) || time.Now().After(deadline) {
					s.Fatalf("a reset in the past: %v", err)
				}
				time.Sleep(50 * time.Millisecond)
			}
		},
		// C60: addresses in payloads lead nowhere, and neither do redirects.
		"C60/Errors/NobodyElseIsAsked": func(s *suite) {
			var asked atomic.Int64
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
			s.Cleanup(elsewhere.Close)
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			s.w.AddTalk(at, "octo", "why?")
			for range 130 {
				s.w.AddComment(at, "alice", "x")
				s.w.AddCommit(repoPath, "x")
				s.w.AddIssue(repoPath, "alice", "x", "")
			}
			for _, base := range []string{"http://169.254.169.254/latest", elsewhere.URL} {
				s.w.Poison(base)
				for name, call := range s.calls(at) {
					if err := call(s.Context()); err != nil && !errors.Is(err, forge.ErrUnsupported) {
						s.Errorf("addresses of %s: %s: %v", base, name, err)
					}
				}
				c, err := s.c.Comment(s.Context(), s.ref(at), "x")
				s.need(err)
				if err := s.c.DeleteComment(s.Context(), s.ref(at), c.ID); err != nil {
					s.Error(err)
				}
			}
			for _, status := range []int{301, 302, 303, 307, 308} {
				clear := s.w.Inject(Fault{Status: status, Header: http.Header{"Location": {elsewhere.URL + "/api/v1/x"}}})
				for name, call := range s.calls(at) {
					if err := call(s.Context()); !errors.Is(err, slot.ErrUnknown) {
						s.Errorf("%d to another host: %s: %v: want an error", status, name, err)
					}
				}
				if _, err := s.c.Comment(s.Context(), s.ref(at), "x"); err == nil {
					s.Errorf("%d to another host: a comment was written", status)
				}
				clear()
			}
			same(s, "requests elsewhere", asked.Load(), 0)
		},
		"Errors/ContextEnds": func(s *suite) {
			at := s.w.AddPull(repoPath, "alice", "x", "f")
			clear := s.w.Inject(Fault{Delay: Range{time.Minute, time.Minute}})
			defer clear()
			for name, call := range s.calls(at) {
				ended, cancel := context.WithCancel(s.Context())
				cancel()
				if err := call(ended); !errors.Is(err, context.Canceled) && !errors.Is(err, forge.ErrUnsupported) {
					s.Errorf("%s: %v: want context.Canceled", name, err)
				}
			}
			ctx, cancel := context.WithTimeout(s.Context(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			if _, err := s.c.Thread(ctx, s.ref(at)); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, slot.ErrUnknown) {
				s.Errorf("%v: want context.DeadlineExceeded", err)
			}
			if d := time.Since(start); d > 10*time.Second {
				s.Errorf("it took %v to end", d)
			}
		},
	}
}
