package sqlite

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// work is an item as stored.
type work struct {
	queue.Item
	slot   int64
	lane   int64  // where it waits; 0 if it does not
	rank   rank   // of that lane
	due    int64  // as stored
	policy string // as it is to be stored
	found  found  // what indexes find it by, as stored

	served bool // it leaves its lane for a run
	free   bool // nobody has its slot or waits for it
}

// found is what indexes on items are made of, beside what never changes.
type found struct {
	state              queue.State
	lane               int64
	run, reason        string
	due, age, deferred int64
}

func (w *work) find() found {
	return found{w.State, w.lane, w.Run, w.Reason, msOf(w.Due), msOf(w.Age), msOf(w.Deferred)}
}

// rank is what a lane is found by, beside its repository.
type rank struct {
	person   bool
	priority int
}

const workColumns = `i.id, i.slot, s.ref, i.policy, i.state, i.lane, i.run, i.told, i.attempts, i.laters, i.spent, i.defers, i.sha, i.kinds,
	i.fresh, i.reason, i.detail, i.due, i.age, i.burst, i.last, i.deferred, i.person, i.asked`

const workTables = " FROM item i JOIN slot s ON s.id = i.slot "

// scanWork reads workColumns, and into more what follows them.
func scanWork(sc scanner, more ...any) (*work, error) {
	w, ref, err := scanItem(sc, more...)
	if err != nil {
		return nil, err
	}
	if w.Ref, err = slot.ParseCanonical(ref); err != nil {
		return nil, err
	}
	err = json.Unmarshal([]byte(w.policy), &w.Policy)
	w.rank = rank{w.Person, w.Policy.Priority}
	return w, err
}

// scanItem is scanWork without what is costly to read: the ref, the policy, and the
// rank that is of it.
func scanItem(sc scanner, more ...any) (*work, string, error) {
	var w work
	var ref, kinds string
	var age, burst, last, deferred int64
	err := sc.Scan(append([]any{
		&w.ID, &w.slot, &ref, &w.policy, (*string)(&w.State), &w.lane, &w.Run, &w.Told, &w.Attempts, &w.Laters, &w.Spent, &w.Defers,
		&w.Sha, &kinds, &w.Fresh, &w.Reason, &w.Detail, &w.due, &age, &burst, &last, &deferred, &w.Person, &w.Asked,
	}, more...)...)
	for k := range strings.FieldsSeq(kinds) {
		w.Kinds = append(w.Kinds, slot.EventKind(k))
	}
	w.Due, w.Age, w.Burst, w.Last, w.Deferred = wallTime(w.due), wallTime(age), wallTime(burst), wallTime(last), wallTime(deferred)
	w.found = w.find()
	return &w, ref, err
}

// work reads the first item for which cond holds; nil if there is none.
func (t *tx) work(cond string, args ...any) (w *work, err error) {
	err = t.rows("SELECT "+workColumns+workTables+"WHERE "+cond, args, func(sc scanner) (bool, error) {
		w, err = scanWork(sc)
		return false, err
	})
	return w, err
}

func msOf(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// save writes an item, new or changed, and puts it into its lane.
func (t *tx) save(w *work) error {
	policy, err := json.Marshal(w.Policy)
	if err != nil {
		return err
	}
	w.policy = string(policy)
	return t.keep(w)
}

// keep is save for a policy that is text already.
func (t *tx) keep(w *work) (err error) {
	if err := t.enlane(w); err != nil {
		return err
	}
	var kinds strings.Builder
	for i, k := range w.Kinds {
		if i > 0 {
			kinds.WriteByte(' ')
		}
		kinds.WriteString(string(k))
	}
	f := w.find()
	t.woke = t.woke || f.lane != 0 && (w.ID == 0 || f.due < w.due || w.due == 0)
	// A burst changes nothing that an index is made of; each would be written anew.
	if w.ID != 0 && f == w.found {
		return t.exec(`UPDATE item SET policy = ?, told = ?, attempts = ?, laters = ?, spent = ?, defers = ?, sha = ?, kinds = ?, fresh = ?,
			detail = ?, burst = ?, last = ?, person = ?, asked = ? WHERE id = ?`,
			w.policy, w.Told, w.Attempts, w.Laters, w.Spent, w.Defers, w.Sha, kinds.String(), w.Fresh,
			w.Detail, msOf(w.Burst), msOf(w.Last), w.Person, w.Asked, w.ID)
	}
	row := []any{w.policy, string(f.state), f.lane, f.run, w.Told, w.Attempts, w.Laters, w.Spent, w.Defers, w.Sha, kinds.String(), w.Fresh,
		f.reason, w.Detail, f.due, f.age, msOf(w.Burst), msOf(w.Last), f.deferred, w.Person, w.Asked}
	if w.ID != 0 {
		return t.exec(`UPDATE item SET policy = ?, state = ?, lane = ?, run = ?, told = ?, attempts = ?, laters = ?, spent = ?, defers = ?,
			sha = ?, kinds = ?, fresh = ?, reason = ?, detail = ?, due = ?, age = ?, burst = ?, last = ?, deferred = ?,
			person = ?, asked = ? WHERE id = ?`, append(row, w.ID)...)
	}
	w.ID, err = t.add(`INSERT INTO item (policy, state, lane, run, told, attempts, laters, spent, defers, sha, kinds, fresh,
			reason, detail, due, age, burst, last, deferred, person, asked, slot, rule)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(row, w.slot, w.Policy.Rule)...)
	return err
}

// enlane moves an item between lanes: of repositories; keys share one. A lane that
// was served goes to the end of the line of lanes, and a new one begins there.
func (t *tx) enlane(w *work) error {
	now := rank{w.Person, w.Policy.Priority}
	waits := w.State == queue.Pending
	if w.lane != 0 && waits && now == w.rank {
		return nil
	}
	if w.lane != 0 {
		q := "UPDATE lane SET items = items - 1 WHERE id = ? RETURNING items"
		if w.served {
			q = `UPDATE lane SET items = items - 1, turn = (SELECT max(turn) + 1 FROM lane l
				WHERE l.person = lane.person AND l.priority = lane.priority) WHERE id = ? RETURNING items`
		}
		var left int
		if _, err := t.one(q, []any{w.lane}, &left); err != nil {
			return err
		}
		if left <= 0 {
			if err := t.exec("DELETE FROM lane WHERE id = ?", w.lane); err != nil {
				return err
			}
		}
	}
	w.lane, w.rank = 0, now
	if !waits {
		return nil
	}
	_, err := t.one(`INSERT INTO lane (person, priority, repo, items, turn)
		SELECT ?1, ?2, ?3, 1, coalesce(max(turn), 0) + 1 FROM lane WHERE person = ?1 AND priority = ?2
		ON CONFLICT (person, priority, repo) DO UPDATE SET items = items + 1 RETURNING id`,
		[]any{now.person, now.priority, w.Ref.Repo()}, &w.lane)
	return err
}
