package poll

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// rotate is how often, in ticks, the request of a quiet repository goes to what was
// looked at longest ago.
const rotate = 4

// repo is a repository and what is remembered of it. It is used by one goroutine at a
// time.
type repo struct {
	forge.Repo
	src *source
	key string // of the cursor: the id stays when the name does not

	ready   bool                 // the rest is filled in
	threads map[slot.Ref]*thread // all that are open
	branch  branch
	place
	moved  bool   // since it was saved
	onDisk string // as it was saved

	clock     time.Time   // the forge's, as of the last list
	askedAt   time.Time   // when deliveries were last asked for again, by our clock
	askedTill time.Time   // and up to when, by the forge's
	tries     map[try]int // looks in a row that failed

	turn int // ticks since the last look
	rest int // those of them that it has used up in advance

	failed   string          // the last failure that was logged
	withheld map[string]bool // what could not be read; false: it can again
}

// try is a look at a thread: at what changed, or in its turn.
type try struct {
	ref     slot.Ref
	changed bool
}

func newRepo(s *source, f forge.Repo) *repo {
	return &repo{
		Repo: f, src: s, key: "poll " + s.Host + " " + keyOf(f),
		threads: map[slot.Ref]*thread{}, tries: map[try]int{}, withheld: map[string]bool{}, turn: turnOf(f.Name),
	}
}

// keyOf tells repositories of a forge apart.
func keyOf(f forge.Repo) string { return cmp.Or(f.ID, f.Name) }

// tick looks at the repository once.
func (r *repo) tick(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := &pass{repo: r, ctx: ctx, o: r.src.o, now: time.Now(), done: map[slot.Ref]bool{}}
	p.aim()
	err := p.spend()
	// What was found before a failure is handed on all the same.
	err = errors.Join(err, p.flush())
	if r.ready {
		p.schedule()
		err = errors.Join(err, p.flush(), p.save())
	}
	return err
}

// spend does the tick's work: on what is going on and the list of changes or, if all is
// quiet, on one of the two turns.
func (p *pass) spend() error {
	r := p.repo
	if !r.ready {
		if err := p.rebuild(); err != nil {
			return err
		}
		return errors.Join(p.redeliver(), p.busy())
	}
	quiet := p.quiet()
	r.turn++
	if quiet {
		switch {
		case r.rest > 0 && r.turn%2 == 0: // lists come in between
			r.rest--
			return nil
		case r.rest == 0 && r.turn >= rotate:
			if done, err := p.oldest(); done {
				r.turn, r.rest = 0, r.src.Look-1
				return err
			}
		case r.rest == 0 && r.turn%2 == 0:
			if done, err := p.slow(); done {
				r.rest = r.src.Look - 1
				return err
			}
		}
		if r.hooked() && p.now.Sub(r.askedAt) >= redeliverEach {
			return p.redeliver()
		}
	}
	if err := p.changes(); err != nil {
		return err
	}
	if err := p.busy(); err != nil || quiet || r.turn < rotate {
		return err
	}
	// Where something always goes on, the others have their turn beside it.
	r.turn = 0
	_, err := p.slow()
	if _, e := p.oldest(); err == nil {
		err = e
	}
	return err
}

// log speaks of a failure once, until it works again.
func (r *repo) log(err error) {
	switch {
	case err == nil:
		r.failed = ""
	case r.failed == "":
		r.failed = err.Error()
		r.src.o.Log.Warn("a repository could not be polled; it is tried again", "repo", r.Name, "error", err)
	}
}

// withhold reports whether err only says that something may not be read, or is not
// there. That is said once, and the rest goes on.
func (r *repo) withhold(what string, err error) bool {
	if err == nil && r.withheld[what] {
		r.withheld[what] = false
	}
	if err == nil || !final(err) {
		return false
	}
	if errors.Is(err, forge.ErrUnsupported) {
		return true
	}
	_, said := r.withheld[what]
	if r.withheld[what] = true; !said {
		r.src.o.Log.Warn("some of a repository cannot be polled", "repo", r.Name, "what", what, "error", err)
	}
	return true
}

// withhold is that of the repository; except that what changed is not given up for one
// such answer, which may be a moment's: a command would be lost with it.
func (p *pass) withhold(what string, err error) bool {
	held := !p.change.IsZero() && !p.withheld[what] && p.tries[try{p.change, true}] < maxTries-1
	if held && err != nil && !errors.Is(err, forge.ErrUnsupported) {
		return false
	}
	return p.repo.withhold(what, err)
}

// mine reports whether a ref is one of this repository's.
func (r *repo) mine(ref slot.Ref) bool { return strings.EqualFold(ref.Repo(), r.Name) }
