package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// Alias notes that the repository which a forge knows by an id has a name now (both of
// the form "host/owner/repo", in any case), and gives the name under which its slots
// are kept: the first one that it was known by, whatever became of it since, and also
// if slots of the new name were used already.
//
// A repository that turns up under a name which another one has, or keeps its slots
// under, shares the slots of that: in doubt two workers are kept apart that might have
// run together. They part as soon as the other one bears another name and nothing is
// at work, or waits, in the slots they share; it then keeps slots under that name.
func (s *Store) Alias(ctx context.Context, host, id, name string) (canonical string, err error) {
	host, name = strings.ToLower(host), strings.ToLower(name)
	if known, err := s.knownAs(ctx, host, id, name); err != nil || known != "" {
		return known, err
	}
	err = s.do(ctx, "note a name", func(t *tx) error {
		is, err := t.one("UPDATE repo SET current = ?, at = ? WHERE host = ? AND id = ? RETURNING canonical",
			[]any{name, t.ms(), host, id}, &canonical)
		if err != nil {
			return err
		}
		if !is {
			if canonical, err = t.keeper(name); err != nil {
				return err
			}
			if err := t.exec("INSERT INTO repo (host, id, canonical, current, at) VALUES (?, ?, ?, ?, ?)", host, id, canonical, name, t.ms()); err != nil {
				return err
			}
		}
		if err := t.name(name, canonical); err != nil {
			return err
		}
		if err := t.part(canonical); err != nil {
			return err
		}
		_, err = t.one("SELECT canonical FROM repo WHERE host = ? AND id = ?", []any{host, id}, &canonical)
		return err
	})
	return canonical, err
}

// knownAs answers what is on record already; empty if there is something to note.
func (s *Store) knownAs(ctx context.Context, host, id, name string) (canonical string, err error) {
	_, err = s.noted(ctx, `SELECT r.canonical FROM repo r JOIN alias a ON a.name = r.current AND a.canonical = r.canonical
		WHERE r.host = ? AND r.id = ? AND r.current = ?
			AND NOT EXISTS (SELECT 1 FROM repo o WHERE o.canonical = r.canonical AND o.current <> r.current)`,
		[]any{host, id, name}, &canonical)
	return canonical, err
}

// keeper is the name whose slots a repository has that turns up under another's.
func (t *tx) keeper(name string) (string, error) {
	canonical := name
	_, err := t.one("SELECT canonical FROM repo WHERE canonical = ?1 OR current = ?1 ORDER BY canonical <> ?1, at LIMIT 1", []any{name}, &canonical)
	return canonical, err
}

func (t *tx) name(name, canonical string) error {
	return t.exec("INSERT INTO alias (name, canonical) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET canonical = excluded.canonical", name, canonical)
}

// part has repositories that share slots keep their own, if nobody uses those that
// they share: all but one, the one that bears the name if there is one.
func (t *tx) part(canonical string) error {
	type repo struct{ host, id, current string }
	var all []repo
	err := t.all("SELECT host, id, current FROM repo WHERE canonical = ?1 ORDER BY current <> ?1, at", []any{canonical}, func(sc scanner) error {
		var r repo
		err := sc.Scan(&r.host, &r.id, &r.current)
		all = append(all, r)
		return err
	})
	if err != nil || len(all) < 2 {
		return err
	}
	used, err := t.one(`SELECT 1 FROM slot s WHERE substr(s.ref, 1, length(?1) + 1) IN (?1 || '#', ?1 || '!', ?1 || '@') AND (s.live = 1
		OR EXISTS (SELECT 1 FROM cover k JOIN slot l ON l.id = k.lead AND l.live = 1 AND l.claim = k.claim WHERE k.slot = s.id)
		OR EXISTS (SELECT 1 FROM run r WHERE r.slot = s.id AND r.tree_gone_at = 0)
		OR EXISTS (SELECT 1 FROM item i WHERE i.slot = s.id AND i.state IN ('pending', 'running'))) LIMIT 1`, []any{canonical}, new(int))
	if err != nil || used {
		return err
	}
	for _, r := range all[1:] {
		if r.current == all[0].current {
			continue // the same one, made anew
		}
		taken, err := t.one("SELECT 1 FROM repo WHERE canonical = ? OR current = ? AND (host <> ? OR id <> ?) LIMIT 1",
			[]any{r.current, r.current, r.host, r.id}, new(int))
		if err != nil || taken {
			return err
		}
		if err := t.exec("UPDATE repo SET canonical = current WHERE host = ? AND id = ?", r.host, r.id); err != nil {
			return err
		}
		if err := t.name(r.current, r.current); err != nil {
			return err
		}
	}
	return nil
}

// Canonical is the name under which the slots of a repository are kept that bears, or
// bore last, the name repo; repo itself, in lower case, if none is known to have.
func (s *Store) Canonical(ctx context.Context, repo string) (canonical string, err error) {
	canonical = strings.ToLower(repo)
	_, err = s.noted(ctx, "SELECT canonical FROM alias WHERE name = ?", []any{canonical}, &canonical)
	return canonical, err
}

// Knows reports whether a repository that an id is known of has, or had, the name.
func (s *Store) Knows(ctx context.Context, repo string) (knows bool, err error) {
	return s.noted(ctx, "SELECT name FROM alias WHERE name = ?", []any{strings.ToLower(repo)}, &repo)
}

// Known is the name under which the slots of a repository are kept that Alias was told
// of; empty if it was not.
func (s *Store) Known(ctx context.Context, host, id string) (canonical string, err error) {
	_, err = s.noted(ctx, "SELECT canonical FROM repo WHERE host = ? AND id = ?", []any{strings.ToLower(host), id}, &canonical)
	return canonical, err
}

// Current is what the repository is called now whose slots are kept under the name
// canonical; that name itself if none is known to be. Where two of different names
// share those slots it is slot.ErrUnknown: what one is asked is not true of the other.
func (s *Store) Current(ctx context.Context, canonical string) (string, error) {
	canonical = strings.ToLower(canonical)
	db, ok, err := s.reader(ctx)
	if err != nil || !ok || s.read.old() {
		return canonical, err
	}
	var names int
	var least, most sql.NullString
	err = db.QueryRowContext(ctx, "SELECT count(DISTINCT current), min(current), max(current) FROM repo WHERE canonical = ?", canonical).
		Scan(&names, &least, &most)
	switch {
	case err != nil:
		return "", s.unknown("read", err)
	case names == 0:
		return canonical, nil
	case names > 1:
		return "", &slot.UnknownError{Op: "look up a repository", Store: s.Address(),
			Err:  fmt.Errorf("%s and %s share the slots of %s", least.String, most.String, canonical),
			Hint: "they part by themselves when nothing runs or waits there"}
	}
	return least.String, nil
}
