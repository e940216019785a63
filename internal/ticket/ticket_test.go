package ticket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// thread is a conversation in memory.
type thread struct {
	list   []forge.Comment
	labels []string
	writes int
	fail   error // of the next write, which is done all the same if done is set
	done   bool
	gone   int  // the status that is told of the thread: 404 or 410; 0: it is there
	hidden bool // so is the repository
}

func (f *thread) missing() error {
	if f.gone == 0 {
		return nil
	}
	return &forge.Error{Kind: forge.ErrNotFound, Op: "read", Status: f.gone}
}

func (f *thread) Thread(context.Context, slot.Ref) (forge.Thread, error) {
	return forge.Thread{}, f.missing()
}

func (f *thread) Repo(context.Context, string) (forge.Repo, error) {
	if f.hidden {
		return forge.Repo{}, f.missing()
	}
	return forge.Repo{ID: "1"}, nil
}

func (f *thread) wrote() error {
	if err := f.missing(); err != nil {
		return err
	}
	f.writes++
	err := f.fail
	f.fail = nil
	return err
}

func (f *thread) Me(context.Context) (string, error) { return "Bob", nil }

func (f *thread) Comments(context.Context, slot.Ref) (forge.Comments, error) {
	return forge.Comments{List: slices.Clone(f.list), At: time.Now()}, nil
}

func (f *thread) Comment(_ context.Context, _ slot.Ref, body string) (forge.Comment, error) {
	err := f.wrote()
	if err != nil && !f.done {
		return forge.Comment{}, err
	}
	c := forge.Comment{ID: int64(len(f.list) + 1), Body: body, Author: forge.Person{Login: "bob"}}
	f.list = append(f.list, c)
	if err != nil {
		return forge.Comment{}, err
	}
	return c, nil
}

func (f *thread) EditComment(_ context.Context, _ slot.Ref, id int64, body string) (forge.Comment, error) {
	for i := range f.list {
		if f.list[i].ID == id {
			if err := f.wrote(); err != nil {
				return forge.Comment{}, err
			}
			f.list[i].Body = body
			return f.list[i], nil
		}
	}
	return forge.Comment{}, &forge.Error{Kind: forge.ErrNotFound, Op: "edit"}
}

func (f *thread) AddLabel(_ context.Context, _ slot.Ref, l string) error {
	if err := f.wrote(); err != nil {
		return err
	}
	if !slices.Contains(f.labels, l) {
		f.labels = append(f.labels, l)
	}
	return nil
}

func (f *thread) RemoveLabel(_ context.Context, _ slot.Ref, l string) error {
	f.labels = slices.DeleteFunc(f.labels, func(x string) bool { return x == l })
	return nil
}

type memory map[string]string

func (m memory) Cursor(_ context.Context, key string) (string, error) { return m[key], nil }
func (m memory) SetCursor(_ context.Context, key, text string) error  { m[key] = text; return nil }

func ref(t *testing.T) slot.Ref {
	r, err := slot.ParseCanonical("github.com/octo/hello#7")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One comment, written only on change.
func TestComment_OneAndOnlyOnChange(t *testing.T) {
	f, m := &thread{list: []forge.Comment{{ID: 1, Body: marker + "\nby another", Author: forge.Person{Login: "eve"}}}}, memory{}
	show := func(s State) error {
		return Ticket{AsComment, f, m}.Show(t.Context(), ref(t), s)
	}
	for _, s := range []State{
		{Word: Idle}, // nobody ever asked: nothing is written
		{Word: Queued}, {Word: Queued},
		{Word: Deferred, Because: "systemd: bob-pm-1 is active"}, {Word: Deferred, Because: "systemd: bob-pm-1 is active"},
		{Word: Running}, {Word: Running}, {Word: Idle}, {Word: Idle},
	} {
		if err := show(s); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.list) != 2 || f.writes != 4 || !strings.Contains(f.list[1].Body, "idle") {
		t.Errorf("%d writes, %+v", f.writes, f.list)
	}
	// The post that was answered with an error and kept is found again.
	f, m = &thread{fail: errors.New("502"), done: true}, memory{}
	if err := show(State{Word: Queued}); err == nil {
		t.Error("no error")
	}
	if err := show(State{Word: Running}); err != nil || len(f.list) != 1 || !strings.Contains(f.list[0].Body, "running") {
		t.Errorf("%v, %+v", err, f.list)
	}
	// The one that somebody deleted is posted anew.
	f.list = nil
	if err := show(State{Word: Person, Because: "it failed 3 times"}); err != nil || len(f.list) != 1 {
		t.Errorf("%v, %+v", err, f.list)
	}
}

func TestLabel(t *testing.T) {
	f, m := &thread{labels: []string{"bug"}}, memory{}
	for _, c := range []struct {
		s    State
		want string
	}{
		{State{Word: Queued}, "bug,oneslot: queued"},
		{State{Word: Running}, "bug,oneslot: running"},
		{State{Word: Person}, "bug,oneslot: needs a person"},
		{State{Word: Idle}, "bug"},
	} {
		if err := (Ticket{AsLabel, f, m}).Show(t.Context(), ref(t), c.s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.labels, ","); got != c.want {
			t.Errorf("%s: labels %s, want %s", c.s.Word, got, c.want)
		}
	}
	// What could not be written is written by the next look.
	f.fail = fmt.Errorf("%w: down", slot.ErrUnknown)
	s := State{Word: Queued}
	if err := (Ticket{AsLabel, f, m}).Show(t.Context(), ref(t), s); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if err := (Ticket{AsLabel, f, m}).Show(t.Context(), ref(t), s); err != nil || !slices.Contains(f.labels, "oneslot: queued") {
		t.Errorf("%v, %v", err, f.labels)
	}
}

// P12: what others chose does nothing in our comment.
func TestP12_Because(t *testing.T) {
	got := body(State{Word: Deferred, Because: "@everyone `x`\n/oneslot run fixes #1\u202e" + strings.Repeat("y", 1000)})
	if strings.Count(got, "`") != 2 || strings.Count(got, "\n") != 2 || strings.ContainsRune(got, '\u202e') || len(got) > 500 {
		t.Errorf("%q", got)
	}
}

// A thread that is gone is told apart from one that we may not see.
func TestGone(t *testing.T) {
	for name, tt := range map[string]struct {
		gone   int
		hidden bool
		want   bool
	}{
		"the forge says so":           {410, true, true},
		"its repository is there":     {404, false, true},
		"its repository is not shown": {404, true, false},
	} {
		for _, form := range []Form{AsComment, AsLabel} {
			f := &thread{gone: tt.gone, hidden: tt.hidden}
			err := Ticket{form, f, memory{}}.Show(t.Context(), ref(t), State{Word: Queued})
			if err == nil || errors.Is(err, ErrGone) != tt.want {
				t.Errorf("%s, as a %s: %v", name, form, err)
			}
		}
	}
	// P8: what was stored, and answered with a fault, does not stay as it is.
	for _, form := range []Form{AsComment, AsLabel} {
		f, m := &thread{}, memory{}
		f.fail, f.done = errors.New("502"), true
		if err := (Ticket{form, f, m}).Show(t.Context(), ref(t), State{Word: Running}); err == nil {
			t.Errorf("as a %s: no error", form)
		}
		err := Ticket{form, f, m}.Show(t.Context(), ref(t), State{Word: Idle})
		if err != nil || len(f.labels) != 0 || len(f.list) > 0 && !strings.Contains(f.list[0].Body, "idle") {
			t.Errorf("as a %s: %v, %v, %+v", form, err, f.labels, f.list)
		}
	}
	// That one comment is gone is not the thread's end.
	f, m := &thread{}, memory{}
	for _, s := range []State{{Word: Queued}, {Word: Running}} {
		if err := (Ticket{AsComment, f, m}).Show(t.Context(), ref(t), s); err != nil || len(f.list) != 1 {
			t.Errorf("%v: %+v", err, f.list)
		}
		f.list = nil
	}
}
