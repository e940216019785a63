package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

// C14: the whole thread is read, wherever the marker is.
func TestC14_AllPages(t *testing.T) {
	for _, n := range []int{0, 29, 30, 31, 99, 100, 101, 250} {
		r := newRig(t)
		at := r.AddIssue(repoPath, "octo", "A", "")
		for i := range n {
			r.AddComment(at, "octo", strconv.Itoa(i))
		}
		got := must[forge.Comments](t)(r.gh.Comments(t.Context(), r.Ref(r.host, at)))
		if len(got.List) != n || !slices.IsSortedFunc(got.List, func(a, b forge.Comment) int { return int(a.ID - b.ID) }) {
			t.Errorf("%d of %d comments, or not by id", len(got.List), n)
		}
		if !got.At.Equal(r.clock.Wall()) {
			t.Errorf("at %v by the forge's clock, want %v", got.At, r.clock.Wall())
		}
	}
}

// C14: servers that cap the page, that ignore pages, and whose Link never ends.
func TestC14_OddPaging(t *testing.T) {
	const n = 250
	for name, c := range map[string]struct {
		size    int // of a page
		endless bool
	}{"caps at 50": {50, false}, "ignores pages": {n, false}, "never ends": {n, true}} {
		client := served(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/comments") {
				_, _ = fmt.Fprintf(w, `{"id":1,"number":1,"state":"open","repository_url":"https://h/repos/octo/hello","comments":%d}`, n)
				return
			}
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			page = max(page, 1)
			lo := 0
			if c.size < n {
				lo = (page - 1) * c.size
			}
			if lo+c.size < n || c.endless {
				w.Header().Set("Link", fmt.Sprintf(`<https://evil.example%s?page=%d>; rel="next"`, r.URL.Path, page+1))
			}
			var list []map[string]any
			for i := lo; i < min(n, lo+c.size); i++ {
				list = append(list, map[string]any{"id": i + 1, "body": "x"})
			}
			_ = json.NewEncoder(w).Encode(list)
		})
		ref, err := slot.ParseCanonical(client.host + "/octo/hello#1")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := client.Comments(t.Context(), ref); err != nil || len(got.List) != n {
			t.Errorf("%s: %d comments, %v", name, len(got.List), err)
		}
	}
}

// C15: a list that is behind is read again; one that stays short is an error.
func TestC15_Lag(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	r.SetReads(forgetest.Reads{Lag: forgetest.Range{Min: time.Second, Max: time.Second}})
	mine := must[forge.Comment](t)(r.gh.Comment(t.Context(), ref, "marker"))
	got := must[forge.Comments](t)(r.gh.Comments(t.Context(), ref))
	if len(got.List) != 1 || got.List[0].ID != mine.ID || len(r.waits) == 0 {
		t.Errorf("%+v after %v", got.List, r.waits)
	}
	r.SetReads(forgetest.Reads{Short: 1})
	r.waits = nil
	if got, err := r.gh.Comments(t.Context(), ref); !errors.Is(err, forge.ErrShort) || !errors.Is(err, slot.ErrUnknown) || got.List != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if len(r.waits) != len(rereads) {
		t.Errorf("read again %d times", len(r.waits))
	}
}

// A list that breaks off is no short list: it is an error.
func TestComments_BreaksOff(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	for range 150 {
		r.AddComment(at, "octo", "x")
	}
	for _, f := range []forgetest.Fault{{Cut: true}, {Status: 502}, {Status: 200, Body: "null"}, {Status: 200, Body: `[{"id":1},{"i`}} {
		f.Path, f.Skip = "/comments", 1
		remove := r.Inject(f)
		if got, err := r.gh.Comments(t.Context(), r.Ref(r.host, at)); !errors.Is(err, slot.ErrUnknown) || got.List != nil {
			t.Errorf("%+v: %d comments, %v", f, len(got.List), err)
		}
		remove()
	}
}

func TestComment_Words(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	made := must[forge.Comment](t)(r.gh.Comment(t.Context(), ref, "one"))
	want := forge.Person{Login: "bot-a[bot]", Bot: true, App: "bot-a", Association: "member"}
	if made.Body != "one" || made.Author != want || made.UpdatedText != "2026-03-01T12:00:00Z" {
		t.Errorf("%+v", made)
	}
	r.clock.Advance(time.Minute)
	edited := must[forge.Comment](t)(r.gh.EditComment(t.Context(), ref, made.ID, "two"))
	if edited.ID != made.ID || edited.Body != "two" || edited.UpdatedText != "2026-03-01T12:01:00Z" || !edited.Created.Equal(made.Created) {
		t.Errorf("%+v", edited)
	}
	for range 2 { // twice is harmless
		if err := r.gh.DeleteComment(t.Context(), ref, made.ID); err != nil {
			t.Error(err)
		}
	}
	if got := must[forge.Comments](t)(r.gh.Comments(t.Context(), ref)); len(got.List) != 0 {
		t.Errorf("%+v", got.List)
	}
}

// A comment that cannot be seen is not one that is gone.
func TestDeleteComment_Unseen(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	c := r.AddComment(at, "octo", "x")
	remove := r.Inject(forgetest.Fault{Method: http.MethodDelete, Status: http.StatusNotFound})
	if err := r.gh.DeleteComment(t.Context(), ref, c.ID); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("there, and 404 all the same: %v", err)
	}
	remove()
	remove = r.Inject(forgetest.Fault{Path: "/repos/", Status: http.StatusNotFound})
	if err := r.gh.DeleteComment(t.Context(), ref, c.ID); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a repository that cannot be seen: %v", err)
	}
	remove()
	if err := r.gh.DeleteComment(t.Context(), ref, c.ID); err != nil {
		t.Error(err)
	}
}

func TestComment_Refused(t *testing.T) {
	r := newRig(t)
	r.AddUser(forgetest.User{Login: "reader", Token: "token-r"})
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	reader := newClient(t, "http://"+r.host+"/api/v3", "token-r", r.clock)
	if err := r.gh.Lock(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Comment(t.Context(), ref, "x"); !errors.Is(err, forge.ErrRefused) {
		t.Errorf("locked: %v", err)
	}
	if err := reader.Lock(t.Context(), ref); !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("no right to lock: %v", err)
	}
	if _, err := r.gh.Comment(t.Context(), ref, strings.Repeat("x", maxComment+1)); !errors.Is(err, forge.ErrRefused) {
		t.Errorf("too long: %v", err)
	}
	must[forge.Comment](t)(r.gh.Comment(t.Context(), ref, strings.Repeat("x", maxComment)))
	for range 2 {
		if err := r.gh.Unlock(t.Context(), ref); err != nil {
			t.Error(err)
		}
	}
	must[forge.Comment](t)(reader.Comment(t.Context(), ref, "x"))
}

// A write that was kept and answered 502, or not at all, is an error, and there.
func TestComment_Stored(t *testing.T) {
	for _, f := range []forgetest.Fault{forgetest.Stored("POST"), forgetest.Lost("POST")} {
		r := newRig(t)
		at := r.AddIssue(repoPath, "octo", "A", "")
		remove := r.Inject(f)
		if _, err := r.gh.Comment(t.Context(), r.Ref(r.host, at), "x"); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%v", err)
		}
		remove()
		if got := must[forge.Comments](t)(r.gh.Comments(t.Context(), r.Ref(r.host, at))); len(got.List) != 1 {
			t.Errorf("%d comments: it was sent twice, or not at all", len(got.List))
		}
	}
}

// A write to a thread that was renamed or moved is done once, where it is now.
func TestWrites_RenamedAndMoved(t *testing.T) {
	r := newRig(t)
	r.AddRepo("octo/elsewhere")
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	old := must[forge.Comment](t)(r.gh.Comment(t.Context(), ref, "before"))
	check := func(where string, want int) {
		t.Helper()
		must[forge.Comment](t)(r.gh.Comment(t.Context(), ref, "after"))
		must[forge.Comment](t)(r.gh.EditComment(t.Context(), ref, old.ID, "edited"))
		for _, err := range []error{r.gh.AddLabel(t.Context(), ref, "a/b?c"), r.gh.RemoveLabel(t.Context(), ref, "a/b?c"),
			r.gh.RemoveLabel(t.Context(), ref, "a/b?c"), r.gh.Lock(t.Context(), ref), r.gh.Unlock(t.Context(), ref)} {
			if err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
		if got := must[forge.Comments](t)(r.gh.Comments(t.Context(), ref)); len(got.List) != want {
			t.Errorf("%s: %d comments, want %d", where, len(got.List), want)
		}
	}
	r.Rename(repoPath, "octo/world")
	check("renamed", 2)
	r.MoveIssue(at, "octo/elsewhere")
	check("moved", 3)
	if err := r.gh.DeleteComment(t.Context(), ref, old.ID); err != nil {
		t.Error(err)
	}
	if _, there := r.Comment(old.ID); there {
		t.Error("the comment of a moved thread counts as gone, and is there")
	}
}

func TestLabels(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	for range 2 {
		if err := r.gh.AddLabel(t.Context(), ref, "oneslot: running"); err != nil {
			t.Fatal(err)
		}
	}
	if x, _ := r.Thread(at); !slices.Equal(x.Labels, []string{"oneslot: running"}) {
		t.Errorf("%v", x.Labels)
	}
	remove := r.Inject(forgetest.Fault{Method: http.MethodDelete, Status: http.StatusNotFound})
	if err := r.gh.RemoveLabel(t.Context(), ref, "oneslot: running"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("set, and 404 all the same: %v", err)
	}
	remove()
	if err := r.gh.RemoveLabel(t.Context(), ref, "oneslot: running"); err != nil {
		t.Error(err)
	}
	if x, _ := r.Thread(at); len(x.Labels) != 0 {
		t.Errorf("%v", x.Labels)
	}
}
