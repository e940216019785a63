package reserve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Ask is a wish for a reservation.
type Ask struct {
	Ref   slot.Ref // of an issue, pull or merge request
	Claim string   // the claim in the caller's own store that the reservation lives with
	Path  string   // slot.PathPoll, ...
	// Force passes the reservations of others, whose comments stay; it is the reason,
	// and is told on the thread.
	Force string
}

// Held is a reservation that was won.
type Held struct {
	Comment int64 // the id of ours
	// Until is the boot time up to which it holds without a renewal, if nobody takes
	// our comment away.
	Until time.Duration
	// Passed is who was passed by force; zero if nobody was there.
	Passed Reservation
	// Suspicious comments were seen and changed nothing.
	Suspicious []Suspicion
}

// Take makes a reservation. It returns when we have it; with *BusyError when somebody
// else has it or may get it; with another error, matching slot.ErrUnknown, when it
// could not be found out. Only nil means that work may start. In the other cases our
// own comment was withdrawn, also when ctx ends; if that fails, Tidy does it.
func (r *Reserver) Take(ctx context.Context, ask Ask) (Held, error) {
	switch kind := ask.Ref.Kind(); {
	case kind != slot.RefIssue && kind != slot.RefMerge, ask.Ref.Host() != r.o.Forge, ask.Claim == "":
		return Held{}, fmt.Errorf("%w: %s is no conversation at %s", slot.ErrUsage, ask.Ref, r.o.Forge)
	}
	login, err := r.me.get(ctx, r.o.Thread)
	if err != nil {
		return Held{}, unknown("ask who we are", err)
	}
	at, err := r.place(ctx, ask.Ref)
	if err != nil {
		return Held{}, err
	}
	c := &contender{Reserver: r, ask: ask, login: login, place: at}
	c.own = own{id: newID(), force: ask.Force != ""}
	// One look before anything is posted: a thread is not written on, and nobody
	// notified, for what is taken anyway.
	if err := c.read(ctx); err != nil {
		return Held{}, unknown("read "+ask.Ref.String(), err)
	}
	defer func() {
		if c.entry != nil {
			c.entry.close()
		}
	}()
	for {
		a := r.rules.next(c.own, c.look, r.o.Clock.Boot())
		if a.do == start {
			return c.won(ctx), nil
		}
		if a.do == withdraw {
			return Held{}, c.lost(ctx, a.other)
		}
		if err := c.act(ctx, a); err != nil {
			c.withdraw(ctx)
			return Held{}, err
		}
	}
}

// contender is one try to take a reservation.
type contender struct {
	*Reserver
	ask   Ask
	login string
	place place

	own   own
	look  *look
	entry *entry // nil until the post is near
	until time.Duration

	suspicious []Suspicion
	passed     Reservation
	failed     error // the last thing that went wrong and is tried again
	looks      int   // since our comment was there, or was to be
}

// act does one step. Its errors end the try.
func (c *contender) act(ctx context.Context, a act) error {
	switch a.do {
	case post:
		return c.post(ctx)
	case read:
		when := a.when
		if c.looks > 0 { // no storm of requests: what one look does not show, the next one seldom does
			when = max(when, c.o.Clock.Boot()+min(c.rules.again<<min(c.looks-1, 3), againMost))
		}
		c.looks++
		if err := c.pause(ctx, min(when, c.own.sent+c.rules.cutoff)); err != nil {
			return unknown("wait", err)
		}
		c.retry(c.read(ctx))
	case adopt:
		return c.posted(a.other.Comment)
	case edit:
		c.passed = c.look.inTheWay(c.own)
		return c.edit(ctx)
	}
	return nil
}

// againMost bounds how far apart looks get.
const againMost = 2 * time.Second

// retry notes an error after which another look is worth it, until the cut-off.
func (c *contender) retry(err error) {
	if err != nil {
		c.failed, c.look = err, nil
		c.own.ready = c.o.Clock.Boot() + c.rules.again
	}
}

// read looks at the conversation.
func (c *contender) read(ctx context.Context) error {
	l, bad, err := c.Reserver.read(ctx, c.ask.Ref, c.place)
	if err == nil {
		c.look, c.suspicious = &l, bad
	}
	return err
}

// read is one look at a conversation.
func (r *Reserver) read(ctx context.Context, ref slot.Ref, at place) (look, []Suspicion, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked := r.o.Clock.Boot()
	list, err := r.o.Thread.Comments(ctx, ref)
	if err == nil && list.At.IsZero() {
		err = fmt.Errorf("%w: the forge did not tell its time", slot.ErrUnknown)
	}
	if err != nil {
		return look{}, nil, err
	}
	good, bad := judge(r.o.Key, at, list.List)
	return look{asked: asked, at: list.At, markers: good}, bad, nil
}

// post notes on disk what is to come, and sends the comment.
func (c *contender) post(ctx context.Context) (err error) {
	rec := record{
		Claim: c.ask.Claim, Ref: c.ask.Ref, Place: c.place, Login: c.login, Since: c.o.Clock.Wall(),
		Reason: shorten(c.ask.Force, maxReason, maxRecord/8),
		Marker: Marker{
			State: Posted, ID: c.own.id, Posting: c.rules.posting, TTL: c.rules.ttl,
			Host: word(c.o.Host), Path: word(c.ask.Path), Forced: c.own.force,
		},
	}
	if c.entry, err = c.dir.create(rec); err != nil {
		return unknown("note the reservation", err)
	}
	hit(afterNote)
	c.own.sent = c.o.Clock.Boot()
	c.own.phase, c.look = asking, nil
	ctx, cancel := context.WithTimeout(ctx, c.rules.cutoff)
	defer cancel()
	made, err := c.o.Thread.Comment(ctx, c.ask.Ref, c.body(c.entry.record))
	hit(afterPost)
	switch {
	case err == nil:
		err = c.posted(made.ID)
		if by := made.Author.Login; err == nil && by != "" && !strings.EqualFold(by, c.login) { // no reader would count it
			c.me.forget() // the token is another account's by now: the next try asks
			err = unknown("reserve "+c.ask.Ref.String(), fmt.Errorf("our comment is by %s, and the token says that we are %s", by, c.login))
		}
		return err
	case neverDone(err):
		c.entry.remove() //nolint:errcheck // Tidy finds nothing on the thread and drops it
		return unknown("post a comment on "+c.ask.Ref.String(), err)
	}
	// It may be there all the same: the next lists tell.
	c.failed = err
	c.own.ready = c.settled()
	return nil
}

// posted notes our comment; what was read before does not count.
func (c *contender) posted(id int64) error {
	c.own.comment, c.own.known, c.own.ready, c.look, c.looks = id, c.o.Clock.Boot(), c.settled(), nil, 0
	c.entry.Comment = id
	if err := c.entry.save(); err != nil {
		return unknown("note the reservation", err)
	}
	return nil
}

// settled is when the settling wait that begins now is over.
func (c *contender) settled() time.Duration {
	return c.o.Clock.Boot() + c.rules.low + c.jitter(c.rules.high-c.rules.low)
}

// edit makes our marker a running one. It counts once it is on disk: what is not, nobody
// would renew. Only an edit that failed is worth another try.
func (c *contender) edit(ctx context.Context) error {
	next := c.entry.record
	next.Marker.State, next.Marker.Comment = Running, c.own.comment
	asked := c.o.Clock.Boot()
	ctx, cancel := context.WithTimeout(ctx, c.own.sent+c.rules.cutoff-asked)
	defer cancel()
	if _, err := c.o.Thread.EditComment(ctx, c.ask.Ref, c.own.comment, c.body(next)); err != nil {
		if neverDone(err) && !errors.Is(err, forge.ErrNotFound) { // that one may be behind
			return unknown("edit our comment on "+c.ask.Ref.String(), err)
		}
		c.retry(err)
		return nil
	}
	hit(afterEdit)
	next.Boot, next.Asked = c.o.Clock.BootID(), asked
	c.entry.record = next
	if err := c.entry.save(); err != nil {
		return unknown("note the reservation", err)
	}
	c.own.phase, c.until = edited, asked+c.rules.lease()
	return nil
}

// won ends a try that has it.
func (c *contender) won(ctx context.Context) Held {
	if c.o.Lock && c.o.Caps.Locks {
		if err := c.lock(ctx); err != nil {
			c.o.Log.Warn("the conversation could not be locked", "ref", c.ask.Ref.String(), "error", err)
		}
	}
	return Held{Comment: c.own.comment, Until: c.until, Passed: c.passed, Suspicious: c.suspicious}
}

// lost ends a try that does not have it.
func (c *contender) lost(ctx context.Context, by Reservation) error {
	c.withdraw(ctx)
	if by.Comment != 0 {
		return &BusyError{Ref: c.ask.Ref, By: by, Suspicious: c.suspicious}
	}
	for _, s := range c.suspicious {
		if s.Comment == c.own.comment { // other readers saw the same
			c.failed = fmt.Errorf("our own comment %d does not count: %s", s.Comment, s.Why)
		}
	}
	if c.failed != nil {
		return unknown("reserve "+c.ask.Ref.String(), c.failed)
	}
	return &BusyError{Ref: c.ask.Ref, Suspicious: c.suspicious}
}

// withdraw takes back our comment, and nothing else. It takes its time also when the
// caller has none left: a comment that stays is in the way of others.
func (c *contender) withdraw(ctx context.Context) {
	if c.entry == nil || c.entry.file == nil {
		return // nothing was sent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := c.settle(ctx, c.entry, c.clear); err != nil {
		c.o.Log.Warn("a comment could not be withdrawn yet; the next sweep tries again",
			"ref", c.ask.Ref.String(), "comment", c.own.comment, "error", err)
	}
}

// body writes a whole comment.
func (r *Reserver) body(rec record) string {
	first := rec.Marker.sign(r.o.Key, rec.Place, rec.Login) + "\n"
	limit := r.o.Caps.Limits.Comment
	if limit <= 0 {
		limit = 60000 // below GitHub's, the smallest
	}
	return first + rec.text(limit-len(first))
}

// Peek tells who would be in the way of a try that began now; zero if nobody is. What
// this folder has on the thread is not: the next try here ends it first. It takes part
// in nothing. Errors match slot.ErrUnknown.
func (r *Reserver) Peek(ctx context.Context, ref slot.Ref) (Reservation, error) {
	at, err := r.place(ctx, ref)
	if err != nil {
		return Reservation{}, err
	}
	l, _, err := r.read(ctx, ref, at)
	if err != nil {
		return Reservation{}, unknown("read "+ref.String(), err)
	}
	ours, err := r.dir.ids()
	if err != nil {
		return Reservation{}, unknown("list our reservations", err)
	}
	l.markers = slices.DeleteFunc(l.markers, func(s Reservation) bool { return slices.Contains(ours, s.Marker.ID) })
	return l.inTheWay(own{}), nil
}

// login is who we are at the forge, once it was told.
type login struct {
	mu   sync.Mutex
	name string
}

func (l *login) get(ctx context.Context, t Conversation) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name != "" {
		return l.name, nil
	}
	name, err := t.Me(ctx)
	l.name = name
	if err == nil && name == "" {
		err = fmt.Errorf("%w: the forge names no login", slot.ErrUnknown)
	}
	return name, err
}

func (l *login) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name = ""
}
