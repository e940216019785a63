package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/s2"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// arrival is an arrival on its way into the file.
type arrival struct {
	queue.Arrival
	texts []wishText // of each wish
	body  any        // of the delivery, as it is kept: packed, or nil

	delivery int64 // its number; 0 if there is none
	again    bool  // it is on record already
	kept     int   // events that were put on record
}

// wishText is parts of a wish as they are kept.
type wishText struct {
	slug     string
	facts    string
	policies []string
}

func textOf(w queue.Wish) (t wishText, err error) {
	b, err := json.Marshal(w.Event.Facts)
	t.facts = string(b)
	if !w.Event.Ref.IsZero() {
		t.slug = w.Event.Ref.Slug()
	}
	for i := 0; err == nil && i < len(w.Policies); i++ {
		b, err = json.Marshal(w.Policies[i])
		t.policies = append(t.policies, string(b))
	}
	return t, err
}

func textsOf(wishes []queue.Wish) (texts []wishText, err error) {
	texts = make([]wishText, len(wishes))
	for i, w := range wishes {
		if texts[i], err = textOf(w); err != nil {
			return nil, fmt.Errorf("%w: a wish: %w", slot.ErrUsage, err)
		}
	}
	return texts, nil
}

// Accept implements queue.Store.
func (q *Queue) Accept(ctx context.Context, a queue.Arrival) (done []queue.Accepted, err error) {
	texts, err := textsOf(a.Wishes) // here, not while others wait for the writer
	if err != nil {
		return nil, err
	}
	var body any
	if d := a.Delivery; d != nil && d.Body != nil { // a fifth of the pages to be written
		buf, _ := q.s.packed.Get().(*[]byte)
		if buf == nil || cap(*buf) < s2.MaxEncodedLen(len(d.Body)) {
			fresh := make([]byte, max(s2.MaxEncodedLen(len(d.Body)), 64<<10))
			buf = &fresh
		}
		defer q.s.packed.Put(buf)
		body = s2.Encode((*buf)[:cap(*buf)], d.Body)
	}
	err = q.s.do(ctx, "accept", func(t *tx) (err error) {
		done, err = t.accept(&arrival{Arrival: a, texts: texts, body: body})
		return err
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

func (t *tx) accept(a *arrival) (done []queue.Accepted, err error) {
	if err := t.deliver(a); err != nil {
		return nil, err
	}
	if done, err = t.wishes(a); err != nil {
		return nil, err
	}
	return done, t.keepBody(a)
}

// wishes judges each wish of an arrival.
func (t *tx) wishes(a *arrival) (done []queue.Accepted, err error) {
	for i, w := range a.Wishes {
		w.Event.ID, w.Event.At = "", t.now()
		if a.delivery != 0 {
			w.Event.Delivery = queue.DeliveryID(a.delivery)
		}
		var some []queue.Accepted
		switch {
		case len(w.Policies) == 0:
			some, err = t.ignore(w)
		case w.Event.Ref.IsZero():
			some, err = t.unresolved(a, w, a.texts[i].facts)
		default:
			for k := range w.Policies {
				one, e := t.wish(a, w, k, a.texts[i])
				if err = e; err != nil {
					break
				}
				some = append(some, one)
			}
		}
		if err != nil {
			return nil, err
		}
		done = append(done, some...)
	}
	return done, nil
}

// deliver puts the delivery on record, or finds the one that it repeats.
func (t *tx) deliver(a *arrival) error {
	d := a.Delivery
	if d == nil {
		return nil
	}
	body, file := a.body, d.File
	if !a.wanted() {
		body, file = nil, ""
	}
	var err error
	a.delivery, err = t.add(`INSERT INTO delivery (hook, guid, event, action, at, size, body, file) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, d.Hook, d.GUID, d.Event, d.Action, t.ms(), d.Size, body, file)
	if err != nil || a.delivery != 0 {
		return err
	}
	a.again = true
	is, err := t.one("SELECT n FROM delivery WHERE hook = ? AND guid = ? AND guid <> ''", []any{d.Hook, d.GUID}, &a.delivery)
	if err == nil && !is {
		err = errors.New("a delivery that is on record is not there")
	}
	return err
}

func (a *arrival) wanted() bool {
	for _, w := range a.Wishes {
		if len(w.Policies) > 0 {
			return true
		}
	}
	return false
}

// keepBody sees to it that a body is kept exactly if an event came of it.
func (t *tx) keepBody(a *arrival) error {
	switch {
	case a.Delivery == nil:
	case a.again && a.kept > 0:
		return t.exec("UPDATE delivery SET body = ?, file = ?, size = ? WHERE n = ?", a.body, a.Delivery.File, a.Delivery.Size, a.delivery)
	case !a.again && a.kept == 0 && a.wanted():
		return t.exec("UPDATE delivery SET body = NULL, file = '' WHERE n = ?", a.delivery)
	}
	return nil
}

// ignore records why nobody wants a wish.
func (t *tx) ignore(w queue.Wish) ([]queue.Accepted, error) {
	answer := []queue.Accepted{{Event: w.Event, Intake: slot.Ignored, Reason: w.Ignored}}
	if w.Event.Ref.IsZero() {
		return answer, nil
	}
	r, err := t.find(w.Event.Ref.Slug())
	if err == nil && r == nil {
		r, err = t.empty(w.Event.Ref)
	}
	if err != nil {
		return nil, err
	}
	return answer, t.note(r, slot.Decision{Path: w.Event.Path, Verdict: slot.Skip, Reason: string(slot.Ignored),
		Detail: because(string(w.Event.Kind), w.Ignored)})
}

// unresolved keeps an event whose ref is to be found by its head commit. Its rules
// are asked again then.
func (t *tx) unresolved(a *arrival, w queue.Wish, facts string) ([]queue.Accepted, error) {
	e := w.Event
	answer := queue.Accepted{Event: e, Intake: slot.Queued}
	of, err := t.redelivered(a, w, 0)
	if err != nil {
		return nil, err
	}
	if of == "" && e.Fingerprint != "" {
		var n int64
		is, err := t.one("SELECT n FROM event WHERE state = 'unresolved' AND repo = ? AND fingerprint = ? LIMIT 1",
			[]any{e.Repo, e.Fingerprint}, &n)
		if err != nil {
			return nil, err
		}
		if is {
			of = queue.EventID(n)
		}
	}
	if of != "" {
		answer.Intake, answer.Of = slot.Duplicate, of
		return []queue.Accepted{answer}, nil
	}
	n, err := t.addEvent(a, w, 0, "", queue.EventUnresolved, "", facts)
	answer.Event.ID = queue.EventID(n)
	return []queue.Accepted{answer}, err
}

// wish is one event under one rule: that of the k-th policy.
func (t *tx) wish(a *arrival, w queue.Wish, k int, text wishText) (queue.Accepted, error) {
	e, p, now := w.Event, w.Policies[k], t.now()
	answer := queue.Accepted{Event: e, Rule: p.Rule}
	it, err := t.workFor(e.Ref, text.slug, p, text.policies[k])
	if err != nil {
		return answer, err
	}
	accept := it.Accept
	if it.ID != 0 {
		of, handled, err := t.repeats(a, w, it.ID)
		switch {
		case err != nil:
			return answer, err
		case handled != 0 && it.StillTrue(p, wallTime(handled), now):
			accept = it.Remind
		case of != "":
			answer.Intake, answer.Of = slot.Duplicate, of
			return answer, nil
		}
	}
	was := it.State
	answer.Intake = accept(e, p, now)
	state, reason := queue.EventWaiting, ""
	if it.State == queue.Dead {
		state, reason, answer.Reason = queue.EventDead, it.Reason, it.Reason
	} else if was == queue.Dead {
		if err := t.reviveEvents(it.ID); err != nil {
			return answer, err
		}
	}
	it.policy = text.policies[k]
	if err := t.keep(it); err != nil {
		return answer, err
	}
	if it.State == queue.Dead && was != queue.Dead {
		if err := t.givenUp(it, e.Path, ""); err != nil {
			return answer, err
		}
	}
	n, err := t.addEvent(a, w, it.ID, p.Rule, state, reason, text.facts)
	answer.Event.ID = queue.EventID(n)
	return answer, err
}

// workFor reads the item of a ref and a policy's rule, or begins one.
func (t *tx) workFor(ref slot.Ref, slug string, p queue.Policy, text string) (w *work, err error) {
	err = t.rows("SELECT "+workColumns+workTables+"WHERE s.slug = ? AND i.rule = ?", []any{slug, p.Rule}, func(sc scanner) (bool, error) {
		w, _, err = scanItem(sc)
		return false, err
	})
	if err != nil {
		return nil, err
	}
	if w == nil {
		w = &work{Item: queue.Item{Ref: ref, State: queue.Idle}}
		_, err = t.one("INSERT INTO slot (slug, ref) VALUES (?, ?) ON CONFLICT (slug) DO UPDATE SET ref = ref RETURNING id",
			[]any{slug, ref.String()}, &w.slot)
		return w, err
	}
	if w.Ref, w.Policy = ref, p; w.policy != text { // mostly it stays
		w.Policy = queue.Policy{}
		err = json.Unmarshal([]byte(w.policy), &w.Policy)
	}
	w.rank = rank{w.Person, w.Policy.Priority}
	return w, err
}

// repeats names the event or the delivery that a wish repeats; empty if it is new. A
// condition that was handled comes with the time when that was, in ms.
func (t *tx) repeats(a *arrival, w queue.Wish, item int64) (of string, handled int64, err error) {
	e := w.Event
	if of, err := t.redelivered(a, w, item); err != nil || of != "" {
		return of, 0, err
	}
	var n int64
	if w.Key != "" {
		is, err := t.one("SELECT n FROM event WHERE item = ? AND key = ? AND key <> '' LIMIT 1", []any{item, w.Key}, &n)
		if err != nil || is {
			return queue.EventID(n), 0, err
		}
	}
	if e.Fingerprint != "" {
		// Dead letters wait, too: for a person, or for something new.
		is, err := t.one(`SELECT n, iif(? AND state IN ('done', 'superseded'), ended_at, 0) FROM event WHERE item = ? AND fingerprint = ?
			AND (state IN ('waiting', 'dead') OR NOT ? AND state IN ('done', 'superseded')) ORDER BY n DESC LIMIT 1`,
			[]any{w.Condition, item, e.Fingerprint, a.AnyNew && !w.Condition}, &n, &handled)
		if err != nil || is {
			return queue.EventID(n), handled, err
		}
	}
	return "", 0, nil
}

// redelivered names the delivery if the same came of it before, and was not
// skipped.
func (t *tx) redelivered(a *arrival, w queue.Wish, item int64) (string, error) {
	if !a.again {
		return "", nil
	}
	is, err := t.one("SELECT 1 FROM event WHERE delivery = ? AND item = ? AND kind = ? AND fingerprint = ? AND state <> 'skipped' LIMIT 1",
		[]any{a.delivery, item, string(w.Event.Kind), w.Event.Fingerprint}, new(int))
	if err != nil || !is {
		return "", err
	}
	return queue.DeliveryID(a.delivery), nil
}

// addEvent puts an event on record and gives its number.
func (t *tx) addEvent(a *arrival, w queue.Wish, item int64, rule string, state queue.EventState, reason, facts string) (int64, error) {
	e := w.Event
	ended := int64(0)
	if state == queue.EventDead {
		ended = t.ms()
	}
	a.kept++
	return t.add(`INSERT INTO event (item, state, rule, path, repo, kind, sha, fingerprint, key, facts, delivery, at, reason, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		item, string(state), rule, e.Path, e.Repo, string(e.Kind), e.Sha, e.Fingerprint, w.Key, facts, a.delivery, t.ms(), reason, ended)
}
