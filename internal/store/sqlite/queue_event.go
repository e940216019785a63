package sqlite

import (
	"encoding/json"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

const eventColumns = `e.n, e.item, e.state, e.rule, e.path, e.repo, coalesce(s.ref, ''), e.kind, e.sha, e.fingerprint, e.facts, e.delivery,
	e.at, e.run, e.by, e.reason`

const eventTables = " FROM event e LEFT JOIN item i ON i.id = e.item LEFT JOIN slot s ON s.id = i.slot "

// waitingEvents are those that wait for items, given as a list, oldest first.
const waitingEvents = "SELECT " + eventColumns + eventTables +
	"WHERE e.item IN (SELECT value FROM json_each(?)) AND e.state = 'waiting' ORDER BY e.n"

func scanEvent(sc scanner) (r queue.Record, err error) {
	var ref, facts string
	var delivery, at, by int64
	err = sc.Scan(&r.N, &r.Item, (*string)(&r.State), &r.Rule, &r.Path, &r.Repo, &ref, (*string)(&r.Kind), &r.Sha, &r.Fingerprint,
		&facts, &delivery, &at, &r.Run, &by, &r.Reason)
	if err != nil {
		return r, err
	}
	r.ID, r.At = queue.EventID(r.N), wallTime(at)
	if delivery != 0 {
		r.Delivery = queue.DeliveryID(delivery)
	}
	if by != 0 {
		r.By = queue.EventID(by)
	}
	if err := json.Unmarshal([]byte(facts), &r.Facts); err != nil {
		return r, err
	}
	if ref != "" {
		r.Ref, err = slot.ParseCanonical(ref)
	}
	return r, err
}

// look is an item with what waits for it.
func (t *tx) look(w *work) (queue.Look, error) {
	l := queue.Look{Item: w.Item}
	err := t.all(waitingEvents, []any{list([]int64{w.ID})}, func(sc scanner) error {
		r, err := scanEvent(sc)
		l.Events, l.Last = append(l.Events, r), r.N
		return err
	})
	return l, err
}
