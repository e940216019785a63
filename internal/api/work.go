package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

func workRoutes() []route {
	stops := func(r route) route { r.slow = true; return r }
	return []route{
		large(do("POST", "/api/v1/events", Dispatch, "Wish for a run", dispatch)),
		do("GET", "/api/v1/events", Read, "Events, oldest first", listEvents),
		do("GET", "/api/v1/deliveries/{delivery}", Read, "The webhook request behind an event", delivery),
		do("GET", "/api/v1/work", Read, "Work items", work),
		do("POST", "/api/v1/work/retry", Dispatch, "Give dead or waiting work a fresh budget", retry),
		do("POST", "/api/v1/work/drop", Admin, "End work that waits or is dead, without a run", drop),
		do("GET", "/api/v1/why", Read, "Why did it, or did it not, start?", why),
		stops(do("POST", "/api/v1/stop", Admin, "End the run of a ref", stop)),
		stops(do("POST", "/api/v1/takeover", Admin, "End the run of a ref, for the head of the line", takeover)),
	}
}

func dispatch(c *call, in wire.Dispatch) (wire.Accepted, error) {
	if len(in.Run) > 0 && !c.who.self {
		return wire.Accepted{}, fmt.Errorf("%w: a command is taken over the unix socket only, from the user that the server runs as",
			slot.ErrNotAllowed)
	}
	if c.Broker == nil {
		return wire.Accepted{}, fmt.Errorf("%w: nobody works a queue here", slot.ErrConfig)
	}
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.Accepted{}, err
	}
	if err := short(in.Note, in.Key); err != nil {
		return wire.Accepted{}, err
	}
	w := Wish{Ref: ref, Kind: in.Kind, Rule: in.Rule, Note: in.Note, Key: in.Key, Run: in.Run, Dir: in.Dir}
	if w.Kind == "" {
		w.Kind = slot.Manual
	}
	if !slices.Contains(slot.EventKinds(), w.Kind) {
		return wire.Accepted{}, usage("there is no kind of events %q", w.Kind)
	}
	got, err := c.Broker.Dispatch(c.ctx(), w)
	if err != nil {
		return wire.Accepted{}, err
	}
	c.Log.Info("wished", "ref", ref, "kind", string(w.Kind), "by", c.who.name)
	c.Feed.tell("work", ref)
	return wire.FromAccepted(got), nil
}

// queue is the queue, or why there is none.
func (c *call) queue() (queue.Store, error) {
	if c.Queue == nil {
		return nil, fmt.Errorf("%w: there is no queue here", slot.ErrConfig)
	}
	return c.Queue, nil
}

type workQuery struct {
	Ref   string  `json:"ref"`
	Rule  *string `json:"rule"`
	State string  `json:"state"`
	Run   string  `json:"run"`
	Limit int     `json:"limit"` // the newest so many; 1000 if left out
}

// bounded is the limit of a list that nobody bounded.
func bounded(limit int) int { return cmp.Or(limit, 1000) }

// filter is the queue's own.
func (c *call) filter(in workQuery) (f queue.Filter, err error) {
	f = queue.Filter{Rule: in.Rule, State: in.State, Run: in.Run, Limit: bounded(in.Limit)}
	if in.Ref != "" {
		f.Ref, err = c.ref(in.Ref)
	}
	return f, err
}

// chosen is the queue, and what of it is asked for.
func (c *call) chosen(in workQuery) (q queue.Store, f queue.Filter, err error) {
	if q, err = c.queue(); err == nil {
		f, err = c.filter(in)
	}
	return q, f, err
}

func listEvents(c *call, in workQuery) (wire.Events, error) {
	q, f, err := c.chosen(in)
	if err != nil {
		return wire.Events{}, err
	}
	list, err := q.Events(c.ctx(), f)
	slices.Reverse(list) // oldest first
	return wire.FromRecords(list), err
}

func work(c *call, in workQuery) (wire.Work, error) {
	q, f, err := c.chosen(in)
	if err != nil {
		return wire.Work{}, err
	}
	list, err := q.Items(c.ctx(), f)
	return wire.FromItems(list), err
}

func delivery(c *call, _ none) (wire.Delivery, error) {
	q, err := c.queue()
	if err != nil {
		return wire.Delivery{}, err
	}
	d, err := q.Delivery(c.ctx(), c.r.PathValue("delivery"))
	return wire.FromDelivery(d), err
}

func retry(c *call, in wire.Retry) (wire.Work, error) {
	q, err := c.queue()
	if err != nil {
		return wire.Work{}, err
	}
	var ref slot.Ref
	if in.Ref != "" {
		if ref, err = c.ref(in.Ref); err != nil {
			return wire.Work{}, err
		}
	} else if c.who.role < Admin {
		return wire.Work{}, fmt.Errorf("%w: to retry all that is dead needs the admin's token; name a ref", slot.ErrNotAllowed)
	}
	list, err := q.Revive(c.ctx(), ref, in.Rule)
	for _, it := range list {
		c.Feed.tell("work", it.Ref)
	}
	return wire.FromItems(list), err
}

func drop(c *call, in wire.Drop) (wire.Dropped, error) {
	q, err := c.queue()
	if err != nil {
		return wire.Dropped{}, err
	}
	d := queue.Drop{Rule: in.Rule, Path: slot.PathAPI, By: cmp.Or(in.By, c.who.name), Reason: in.Reason}
	if in.Dead == (in.Ref != "") {
		return wire.Dropped{}, usage("name a ref, or say dead")
	}
	if !in.Dead {
		if d.Ref, err = c.ref(in.Ref); err != nil {
			return wire.Dropped{}, err
		}
	}
	if strings.TrimSpace(in.Reason) == "" {
		return wire.Dropped{}, usage("to drop work needs a reason")
	}
	if err := short(in.Reason, in.By); err != nil {
		return wire.Dropped{}, err
	}
	list, err := q.Drop(c.ctx(), d)
	for _, one := range list {
		if one.Events > 0 {
			c.Log.Info("dropped", "ref", one.Item.Ref, "rule", one.Item.Policy.Rule, "events", one.Events, "by", c.who.name)
			c.Feed.tell("work", one.Item.Ref)
		}
	}
	return wire.FromDropped(list), err
}

func why(c *call, in oneRef) (wire.Why, error) {
	out := wire.Why{Work: []wire.Item{}}
	var err error
	if out.Ref, err = c.ref(in.Ref); err != nil {
		return out, err
	}
	if out.Slot, err = look(c, in); err != nil {
		return out, err
	}
	if c.Queue != nil {
		items, err := c.Queue.Items(c.ctx(), queue.Filter{Ref: out.Ref})
		if err != nil {
			return out, err
		}
		out.Work = wire.FromItems(items).Work
	}
	ds, err := decisions(c, in)
	out.Decisions = ds.Decisions
	return out, err
}

func stop(c *call, in wire.Stop) (wire.Was, error) {
	if c.Broker == nil {
		return wire.Was{}, fmt.Errorf("%w: this server stops nothing", slot.ErrConfig)
	}
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.Was{}, err
	}
	if err := short(in.Reason); err != nil {
		return wire.Was{}, err
	}
	was, err := c.Broker.Stop(c.ctx(), ref, in.Reason, in.Hold)
	c.Log.Info("stopped", "ref", ref, "by", c.who.name, "err", err)
	c.Feed.tell("claim", ref)
	return wire.Was{Was: was}, err
}

func takeover(c *call, in wire.Takeover) (wire.Was, error) {
	if c.Broker == nil {
		return wire.Was{}, fmt.Errorf("%w: this server stops nothing", slot.ErrConfig)
	}
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.Was{}, err
	}
	if strings.TrimSpace(in.Reason) == "" {
		return wire.Was{}, usage("a takeover needs a reason")
	}
	if err := short(in.Reason); err != nil {
		return wire.Was{}, err
	}
	was, err := c.Broker.Takeover(c.ctx(), ref, in.Reason)
	c.Log.Info("taken over", "ref", ref, "by", c.who.name, "err", err)
	c.Feed.tell("claim", ref)
	return wire.Was{Was: was}, err
}
