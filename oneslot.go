// Package oneslot lets a Go program ask the same gate as the oneslot command:
// one live claim per ref, whoever wants it.
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

// Ref is the canonical identity of one piece of work. Its String is the
// canonical form, its Slug a safe name for files, units and branches.
type Ref = slot.Ref

// Errors to tell apart with errors.Is. An unknown outcome is never "free".
var (
	ErrUnknown = slot.ErrUnknown // the store could not be asked
	ErrLost    = slot.ErrLost    // the claim is somebody else's
	ErrUsage   = slot.ErrUsage   // not a ref, or an option out of range
)

// BusyError refuses a claim: its Claim field says who holds the slot.
type BusyError = slot.BusyError

// DeferError refuses a claim because a person paused the ref or repository.
type DeferError = slot.DeferError

// Store is a handle on a claim store. It is safe for concurrent use.
type Store struct{ app *app.App }

// Open gives a handle on the store at address, such as
// "sqlite:/var/lib/oneslot/oneslot.db". An empty address is found like the
// command finds it: environment, configuration file, default.
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

// TTL sets the time to live, from one second; the default is a minute. The
// claim is renewed every third of it.
func TTL(d time.Duration) Option {
	return func(o *options) { o.ttl, o.grace = d, min(d/3, slot.DefaultGrace) }
}

// Wait stands in line, for at most longest (0: as long as the context lives),
// instead of refusing.
func Wait(longest time.Duration) Option {
	return func(o *options) { o.wait, o.longest = true, longest }
}

// As names the caller in what others see: path says how the wish arrived
// (webhook, poll, sweep, ...), command which program it is.
func As(path, command string) Option {
	return func(o *options) { o.path, o.command = path, command }
}

// Claim is a slot that this process holds.
type Claim struct {
	store *Store
	key   claim.Key
	rec   slot.Claim
	ctx   context.Context
	stop  func()
}

// Claim takes the slot of ref and keeps it renewed until Release, or until ctx
// ends. Errors: *BusyError, *DeferError, ErrUnknown (nothing is held, or it
// runs out by itself), ErrLost (it was taken away again at once), ErrUsage.
func (s *Store) Claim(ctx context.Context, ref Ref, opts ...Option) (*Claim, error) {
	o := options{ttl: slot.DefaultTTL, grace: slot.DefaultGrace, path: "api", command: filepath.Base(os.Args[0])}
	for _, opt := range opts {
		opt(&o)
	}
	req := claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: o.ttl, Grace: o.grace,
		Holder: s.app.Holder(o.path, o.command, s.app.Self),
	}
	taker := s.app.Taker()
	take := taker.Take
	if o.wait {
		take = func(ctx context.Context, req claim.Request) (claim.Grant, error) {
			return taker.Wait(ctx, req, o.longest)
		}
	}
	g, err := take(ctx, req)
	if err != nil {
		return nil, err
	}
	// What a killed `oneslot run` left of its worker must be gone first.
	if err := s.app.Clear(ctx, g, req.Key); err != nil {
		return nil, err
	}
	// How old it is by now nobody here knows: it counts from this renewal.
	asked := s.app.Clock.Boot()
	lease, err := s.app.Store.Renew(ctx, req.Key)
	if err != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		s.app.Store.Release(end, req.Key, slot.Outcome{Result: slot.NoStart, Reason: err.Error()}) //nolint:errcheck // the first fault is the one to tell
		return nil, err
	}
	c := &Claim{store: s, key: req.Key, rec: g.Claim}
	c.ctx, c.stop = claim.Keep(ctx, s.app.Store, s.app.Clock, req.Key, asked, lease.TTL)
	return c, nil
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
	_, err := c.store.app.Store.Release(ctx, c.key, out)
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
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
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
