package api

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// Dropping is about a ref, or about what is dead; that is the admin's. Whose word it
// was is on record, and the answer is as the document says.
func TestDrop(t *testing.T) {
	q := queuetest.NewMemory(clock.NewManual(time.Now()))
	s := startServer(t, func(o *Options) { o.Queue = q })
	wish := func(text string) slot.Ref {
		t.Helper()
		ref, err := slot.ParseCanonical(text)
		if err != nil {
			t.Fatal(err)
		}
		e := slot.Event{Path: slot.PathAPI, Ref: ref, Repo: ref.Repo(), Kind: slot.Manual}
		if _, err := q.Accept(context.Background(), queue.Arrival{Wishes: []queue.Wish{{Event: e, Policies: []queue.Policy{{Rule: "fix"}}}}}); err != nil {
			t.Fatal(err)
		}
		return ref
	}
	item := func(ref slot.Ref) queue.Item {
		t.Helper()
		items, err := q.Items(context.Background(), queue.Filter{Ref: ref})
		if err != nil || len(items) != 1 {
			t.Fatalf("%+v, %v", items, err)
		}
		return items[0]
	}
	waits, dead := wish("key:waits"), wish("key:dead")
	if err := q.Kill(context.Background(), item(dead).ID, "", slot.Decision{Verdict: slot.Skip, Reason: "rule"}); err != nil {
		t.Fatal(err)
	}

	const path, token = "/api/v1/work/drop", "Authorization: Bearer "
	for body, says := range map[string]string{
		`{"reason":"r"}`: "name a ref",
		`{"ref":"key:waits","dead":true,"reason":"r"}`:      "name a ref",
		`{"ref":"key:waits"}`:                               "needs a reason",
		`{"dead":true,"reason":" "}`:                        "needs a reason",
		`{"ref":"no ref","reason":"r"}`:                     "no ref",
		`{"ref":"key:waits","reason":"r","surprise":"yes"}`: "surprise",
	} {
		if p := s.want(400, "POST", "unix:"+path, body).problem(t); p.Type != wire.TypeUsage || !strings.Contains(p.Detail, says) {
			t.Errorf("%s: %+v; want %q", body, p, says)
		}
	}
	s.want(403, "POST", path, `{"dead":true,"reason":"r"}`, token+"dispatch-token")
	s.want(403, "POST", path, `{"ref":"key:waits","reason":"r"}`, token+"dispatch-token")
	if it := item(dead); it.State != queue.Dead || item(waits).State != queue.Pending {
		t.Fatalf("%+v was changed by who may not", it)
	}

	a := s.want(200, "POST", path, `{"ref":"key:waits","reason":"not wanted"}`, token+"admin-token")
	readDoc(t, s).check(t, "post", path, a)
	if !strings.Contains(a.body, `"events":1,"item":{`) || !strings.Contains(a.body, `"ref":"key:waits"`) || strings.Contains(a.body, "key:dead") {
		t.Error(a.body)
	}
	if it := item(waits); it.State != queue.Idle || it.Detail != "by a: not wanted" {
		t.Errorf("%+v; want it idle, by the token's name", it)
	}
	s.want(200, "POST", path, `{"dead":true,"rule":"fix","reason":"the rule is gone","by":"ann@desk"}`, token+"admin-token")
	if it := item(dead); it.State != queue.Idle || it.Detail != "by ann@desk: the rule is gone" {
		t.Errorf("%+v; want it idle, by whom the client named", it)
	}
	if a := s.want(200, "POST", path, `{"dead":true,"reason":"r"}`, token+"admin-token"); strings.TrimSpace(a.body) != `{"dropped":[]}` {
		t.Errorf("again: %s", a.body)
	}
}
