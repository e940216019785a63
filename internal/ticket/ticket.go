package ticket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Conversation is what a ticket needs of a forge; a forge.Client is one.
type Conversation interface {
	Me(ctx context.Context) (string, error)
	// Repo and Thread are asked only whether they are there.
	Repo(ctx context.Context, repo string) (forge.Repo, error)
	Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error)
	Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error)
	Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error)
	EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error)
	AddLabel(ctx context.Context, ref slot.Ref, label string) error
	RemoveLabel(ctx context.Context, ref slot.Ref, label string) error
}

// Memory keeps what was shown last, across processes.
type Memory interface {
	Cursor(ctx context.Context, key string) (string, error)
	SetCursor(ctx context.Context, key, text string) error
}

// Word is the state in a word.
type Word string

// The states that are shown.
const (
	Queued   Word = "queued"
	Running  Word = "running"
	Deferred Word = "deferred"
	Person   Word = "needs a person" // dead letters, or a worker that waits for somebody
	Idle     Word = "idle"           // nothing is to be done
)

// State is what is shown. The zero State is shown as nothing: no comment is begun for it.
type State struct {
	Word Word
	// Because is why, in a line of ours; empty if that goes without saying.
	Because string
}

// Form is how it is shown.
type Form string

// The forms.
const (
	AsComment Form = "comment"
	AsLabel   Form = "label"
)

// Ticket shows states at one forge.
type Ticket struct {
	Form   Form
	Thread Conversation
	Memory Memory
}

// shown is what the memory keeps of a ref.
type shown struct {
	State   State `json:"state"`
	Comment int64 `json:"comment,omitempty"`
}

// ErrGone says that the issue or pull request is not there. If it stays so, it was
// deleted.
var ErrGone = errors.New("it is gone, and nothing can be shown there")

// Show has the thread say the state, if it does not. What was begun and not noted is
// found again, so that there is one comment. Errors match ErrGone or slot.ErrUnknown.
func (t Ticket) Show(ctx context.Context, ref slot.Ref, s State) error {
	key := "ticket " + ref.String()
	text, err := t.Memory.Cursor(ctx, key)
	if err != nil {
		return err
	}
	var was shown
	if text != "" && json.Unmarshal([]byte(text), &was) != nil {
		was = shown{} // it is only shown anew
	}
	if was.State == s || text == "" && s.Word == Idle { // who never asked is told nothing
		return nil
	}
	if text == "" { // the first answer may be lost
		if err := t.Memory.SetCursor(ctx, key, "{}"); err != nil {
			return err
		}
	}
	is := shown{State: s, Comment: was.Comment}
	if t.Form == AsLabel {
		err = t.label(ctx, ref, was.State.Word, s.Word)
	} else {
		is.Comment, err = t.comment(ctx, ref, was.Comment, s)
	}
	if t.gone(ctx, ref, err) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	if s.Word == Idle { // the comment is found again by its marker
		return t.Memory.SetCursor(ctx, key, "")
	}
	note, err := json.Marshal(is)
	if err != nil {
		return err
	}
	return t.Memory.SetCursor(ctx, key, string(note))
}

// gone reports that a thread is no more, after an error: its forge says so, or shows its
// repository and not the thread. A 404 alone may mean that we may not see it.
func (t Ticket) gone(ctx context.Context, ref slot.Ref, err error) bool {
	if !errors.Is(err, forge.ErrNotFound) {
		return false
	}
	_, err = t.Thread.Thread(ctx, ref)
	if !errors.Is(err, forge.ErrNotFound) {
		return false
	}
	if failed, ok := errors.AsType[*forge.Error](err); ok && failed.Status == http.StatusGone {
		return true
	}
	_, err = t.Thread.Repo(ctx, ref.Repo())
	return err == nil
}

// labelOf is a state's label. Idle has none.
func labelOf(w Word) string {
	if w == Idle || w == "" {
		return ""
	}
	return "oneslot: " + string(w)
}

// Labels are all that a label's form ever sets.
func Labels() []string {
	var list []string
	for _, w := range words() {
		list = append(list, labelOf(w))
	}
	return list
}

func words() []Word { return []Word{Queued, Running, Deferred, Person} }

// label sets the new one first: a thread with both says more than one with none.
func (t Ticket) label(ctx context.Context, ref slot.Ref, was, is Word) error {
	if l := labelOf(is); l != "" {
		if err := t.Thread.AddLabel(ctx, ref, l); err != nil {
			return err
		}
	}
	// Whatever else is there of ours is old, also what was set and not noted.
	for _, w := range words() {
		if w == is || was != "" && w != was {
			continue
		}
		if err := t.Thread.RemoveLabel(ctx, ref, labelOf(w)); err != nil { // one that is not set is no error
			return err
		}
	}
	return nil
}

// comment edits the sticky comment, or posts it.
func (t Ticket) comment(ctx context.Context, ref slot.Ref, id int64, s State) (int64, error) {
	if id == 0 {
		var err error
		if id, err = t.find(ctx, ref); err != nil {
			return 0, err
		}
	}
	if id != 0 {
		_, err := t.Thread.EditComment(ctx, ref, id, body(s))
		if !errors.Is(err, forge.ErrNotFound) {
			return id, err
		}
		// Somebody deleted it.
	}
	if s.Word == Idle {
		return 0, nil // there is none to mend
	}
	c, err := t.Thread.Comment(ctx, ref, body(s))
	return c.ID, err
}

// marker begins our comment.
const marker = "<!-- oneslot:ticket v1 -->"

// find looks for a comment that was posted and not noted.
func (t Ticket) find(ctx context.Context, ref slot.Ref) (int64, error) {
	me, err := t.Thread.Me(ctx) // of the app's installation at the owner, if ctx names one
	if err != nil {
		return 0, err
	}
	list, err := t.Thread.Comments(ctx, ref)
	if err != nil {
		return 0, err
	}
	for _, c := range list.List {
		if strings.EqualFold(c.Author.Login, me) && strings.HasPrefix(c.Body, marker) {
			return c.ID, nil
		}
	}
	return 0, nil
}

// maxBecause bounds what is shown of a reason, in runes.
const maxBecause = 300

// body is the whole comment. The reason may repeat names that others chose: in code,
// nothing in it mentions, closes or commands.
func body(s State) string {
	text := fmt.Sprintf("%s\n**oneslot**: %s", marker, s.Word)
	if s.Because != "" {
		text += " because `" + harmless(s.Because) + "`"
	}
	return text + "\n"
}

// harmless makes a text one short line that can stand in inline code.
func harmless(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxBecause {
			b.WriteString("…")
			break
		}
		switch {
		case r == '`':
			r = '\''
		case !unicode.IsPrint(r):
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
