// Package oneslot lets a Go program ask the same gate as the oneslot command:
// one live claim per ref, whoever wants it. What the configuration wants asked
// before a start (gates, reservations) is asked here, too.
//
//	store, err := oneslot.Open("") // as the command would find it
//	ref, err := store.Ref("octo-org/octo-repo#12")
//	err = store.Do(ctx, ref, func(ctx context.Context, c *oneslot.Claim) error {
//		// ctx ends when the claim is lost. Give c.Fence() to whatever is guarded.
//		return work(ctx)
//	})
//
// A claim taken here is renewed by this process and ends with it. It does not
// supervise processes: what f starts, f must end when its context does. The
// `oneslot run` command does that for commands.
package oneslot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// Ref is the canonical identity of one piece of work: equal refs (==) are one
// slot. Store.Ref reads one. Its methods:
//
//	String() string  the canonical form, always with the host
//	Slug() string    a safe name for files, units and branches, at most 63 bytes
//	Kind()           "issue", "merge", "branch", "check" or "key"
//	Host(), Repo(), Owner(), Name() string   github.com, github.com/octo-org/octo-repo, ...
//	Number() int, Branch(), Check(), Key() string   what its kind has; else zero
type Ref = slot.Ref

// Errors to tell apart with errors.Is. An unknown outcome is never "free".
var (
	ErrUnknown    = slot.ErrUnknown    // the store could not be asked
	ErrLost       = slot.ErrLost       // the claim is somebody else's
	ErrUsage      = slot.ErrUsage      // not a ref, or an option out of range
	ErrNotAllowed = slot.ErrNotAllowed // the store, or this there, is not for this user
	ErrConfig     = slot.ErrConfig     // the configuration is wrong
)

// BusyError refuses a claim: somebody else has the slot, or stands in line
// before the caller. Its fields:
//
//	Ref     the ref asked for
//	Reason  held; line: it is free, but others wait; inside: by the run that this
//	        program is part of; unseen: overdue, but whether its holder lives cannot
//	        be seen; unstopped: an earlier worker could not be ended
//	Claim   the claim in the way: Ref, Since, ExpiresAt, Fence, and
//	        Holder {Host, Process.PID, Path, Command}; zero with line
//	Store   the store asked, without secrets
//	Place   where the caller stands, or would stand, in line; may be nil
type BusyError = slot.BusyError

// DeferError refuses a claim because a person paused the ref or repository, or
// a gate says "not now". Its fields:
//
//	Ref            the ref asked for
//	Reason, Detail which gate, and what it found
//	Hold           a person's pause {Scope, Reason, By, At}; else nil
//	Until          when another try is worth it; zero if nobody knows
//	Evidence       what each gate said {Gate, Verdict, Reason, Detail}
//
// Its method Unknown reports whether the gate could not find out.
type DeferError = slot.DeferError

// SkipError refuses a claim because there is nothing to do: a gate found that
// the work is over (closed, landed, ...). Its fields are Ref, Reason, Detail and
// Evidence, as those of DeferError.
type SkipError = slot.SkipError

// Store is a handle on a claim store. It is safe for concurrent use.
type Store struct{ app *app.App }

// Open gives a handle on the store at address, such as
// "sqlite:/var/lib/oneslot/oneslot.db". An empty address is found like the
// command finds it: environment, configuration file, default. Nothing is written
// and nobody is asked until a claim is. Errors: ErrConfig, ErrNotAllowed,
// ErrUnknown.
func Open(address string) (*Store, error) {
	src := config.System()
	if address != "" {
		src.Flags = map[string]string{"store": address}
	}
	cfg, err := config.Load(src)
	if err != nil {
		return nil, err
	}
	a, err := app.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Store{a}, nil
}

// Close gives the store back. Claims still held run out.
func (s *Store) Close() error { return s.app.Store.Close() }

// Ref reads a ref in any of its forms: "owner/repo#12", a web address,
// "owner/repo@branch", "key:anything".
func (s *Store) Ref(text string) (Ref, error) {
	return slot.ParseRef(text, s.app.Grammar(context.Background()))
}

// Option changes how a slot is claimed.
type Option func(*options)

type options struct {
	ttl, grace time.Duration
	wait       bool
	longest    time.Duration
	path       string
	command    string
}

// TTL sets the time to live, from one second to seven days (else ErrUsage); the
// default is a minute. The claim is renewed every third of it. Its grace time is
// a third, too, and at most ten seconds.
func TTL(d time.Duration) Option {
	return func(o *options) { o.ttl, o.grace = d, min(d/3, slot.DefaultGrace) }
}

// Wait stands in line, for at most longest (0: as long as the context lives),
// instead of refusing.
func Wait(longest time.Duration) Option {
	return func(o *options) { o.wait, o.longest = true, longest }
}

// As names the caller in what others see. Path says how the wish arrived: api (the
// default), webhook, poll, sweep, manual, or a name of the program's own. Command
// says which program it is, by default the name that it was started with.
func As(path, command string) Option {
	return func(o *options) { o.path, o.command = path, command }
}

// Claim is a slot that this process holds.
type Claim struct {
	store *Store
	key   claim.Key
	rec   slot.Claim
	ctx   context.Context
	stop  func() // renewing the claim
	gates *app.Admission
	still func() // looking after what others were told
}

// Claim takes the slot of ref and keeps it renewed until Release, or until ctx
// ends. Errors: *BusyError, *DeferError, *SkipError, ErrUnknown (nothing is held,
// or it runs out by itself), ErrLost (it was taken away again at once), ErrUsage,
// ErrConfig, ErrNotAllowed, and what ended ctx while a gate was waited for.
func (s *Store) Claim(ctx context.Context, ref Ref, opts ...Option) (*Claim, error) {
	o := options{ttl: slot.DefaultTTL, grace: slot.DefaultGrace, path: "api", command: filepath.Base(os.Args[0])}
	for _, opt := range opts {
		opt(&o)
	}
	gates, err := s.app.Admission(false, "")
	if err != nil {
		return nil, err
	}
	c, err := s.claim(ctx, ref, o, gates)
	if err != nil {
		end, cancel := ending(ctx)
		defer cancel()
		gates.Ended(end) //nolint:errcheck // the first fault is the one to tell; the next process does the rest
	}
	return c, err
}

func (s *Store) claim(ctx context.Context, ref Ref, o options, gates *app.Admission) (*Claim, error) {
	slots, err := s.app.Slots(ctx, []Ref{ref}) // its repository may have been renamed
	if err != nil {
		return nil, err
	}
	g, key, err := s.take(ctx, slots[0], o, gates)
	if err != nil {
		return nil, err
	}
	// What a killed `oneslot run` left of its worker must be gone first.
	if err := s.app.Ender().Clear(ctx, g, key); err != nil {
		return nil, err
	}
	// How old it is by now nobody here knows: it counts from this renewal.
	asked := s.app.Clock.Boot()
	lease, err := s.app.Store.Renew(ctx, key)
	if err != nil {
		end, cancel := ending(ctx)
		defer cancel()
		s.app.Store.Release(end, key, slot.Outcome{Result: slot.NoStart, Reason: err.Error()}) //nolint:errcheck // the first fault is the one to tell
		return nil, err
	}
	c := &Claim{store: s, key: key, rec: g.Claim, gates: gates}
	c.ctx, c.stop = claim.Keep(ctx, s.app.Store, s.app.Clock, key, asked, lease.TTL)
	c.still = gates.Keep(c.ctx, key.Claim, func(string) {}) // what becomes of it is on record
	return c, nil
}

// take asks the gates, takes the slot, and asks them again.
func (s *Store) take(ctx context.Context, ref Ref, o options, gates *app.Admission) (g claim.Grant, key claim.Key, err error) {
	taker := s.app.Taker()
	try := func(take func(context.Context, claim.Request) (claim.Grant, error)) error {
		key = claim.NewKey(ref)
		req := claim.Request{
			Ref: ref, Key: key, Kind: slot.Detached, TTL: o.ttl, Grace: o.grace,
			Holder: s.app.Holder(o.path, o.command, s.app.Self), Limits: s.app.RunLimits(),
		}
		if err := gates.Ask(ctx, req); err != nil {
			return err
		}
		if g, err = take(ctx, req); err != nil {
			return err
		}
		return gates.Under(ctx, g, req)
	}
	if !o.wait {
		err = try(taker.Take)
		return g, key, err
	}
	err = gates.Persist(ctx, o.longest, func(left time.Duration) error {
		return try(func(ctx context.Context, req claim.Request) (claim.Grant, error) {
			return taker.Wait(ctx, req, left)
		})
	}, func(ctx context.Context) (context.Context, func() error) {
		return ctx, func() error { return context.Cause(ctx) }
	})
	return g, key, err
}

// ending is for what is left to do when ctx may be over.
func ending(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}

// Ref is the claim's ref.
func (c *Claim) Ref() Ref { return c.rec.Ref }

// ID names the claim; it is not secret and proves nothing.
func (c *Claim) ID() string { return c.rec.ID }

// Fence is larger than that of every earlier claim of the slot. Whatever is
// guarded should refuse a smaller one than it has seen.
func (c *Claim) Fence() int64 { return c.rec.Fence }

// Context ends when the claim is lost, released, or could not be renewed in
// time; context.Cause tells which (ErrLost, ErrUnknown).
func (c *Claim) Context() context.Context { return c.ctx }

// Check asks the store whether the claim is still this one's: nil, ErrLost or
// ErrUnknown. Ask right before an effect that has no fence.
func (c *Claim) Check(ctx context.Context) error {
	_, err := c.store.app.Store.Check(ctx, c.key)
	return err
}

// Release ends the claim and frees the slot. Doing it twice is harmless.
// ErrUnknown means that it may still be held, and runs out by itself.
func (c *Claim) Release(ctx context.Context) error {
	return c.release(ctx, slot.Outcome{Result: slot.Done})
}

func (c *Claim) release(ctx context.Context, out slot.Outcome) error {
	c.stop()
	c.still()
	_, err := c.store.app.Store.Release(ctx, c.key, out)
	c.gates.Ended(ctx) //nolint:errcheck // the claim's end is what counts; the next process does the rest
	return err
}

// Do runs f under the slot of ref and releases it afterwards, whatever f
// returns, even if it panics. The context given to f is the claim's. If the
// claim was lost while f ran, the error says so beside f's own.
func (s *Store) Do(ctx context.Context, ref Ref, f func(context.Context, *Claim) error, opts ...Option) (err error) {
	c, err := s.Claim(ctx, ref, opts...)
	if err != nil {
		return err
	}
	out := slot.Outcome{Result: slot.Failed, Reason: "it did not return"}
	defer func() {
		end, cancel := ending(ctx)
		defer cancel()
		err = errors.Join(err, c.release(end, out))
	}()
	if err = f(c.ctx, c); err != nil {
		out.Reason = err.Error()
		return err
	}
	out = slot.Outcome{Result: slot.Done}
	return nil
}
