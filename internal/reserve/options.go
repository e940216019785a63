package reserve

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Conversation is what reservations need of a forge; a forge.Client is one.
type Conversation interface {
	Me(ctx context.Context) (string, error)
	// Repo is asked only for the repository's id.
	Repo(ctx context.Context, repo string) (forge.Repo, error)
	// Thread is asked only whether the conversation is locked, or gone.
	Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error)
	Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error)
	Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error)
	EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error)
	DeleteComment(ctx context.Context, ref slot.Ref, id int64) error
	Lock(ctx context.Context, ref slot.Ref) error
	Unlock(ctx context.Context, ref slot.Ref) error
}

// Defaults and bounds of the times.
const (
	defaultLow  = 5 * time.Second
	defaultHigh = 15 * time.Second
	defaultTTL  = 2 * time.Hour
	// defaultPosting is P, unless four times the settling wait is more.
	defaultPosting = time.Minute
	// minPosting is the shortest P whose margin covers a clock that shows whole
	// seconds.
	minPosting = 4 * time.Second
	// minKey is the shortest key, in bytes.
	minKey = 16
)

// Options say how reservations are made at one forge.
type Options struct {
	Forge  string // its host; refs and records of others are none of ours
	Thread Conversation
	Caps   forge.Capabilities
	Clock  clock.Clock
	Log    *slog.Logger

	// Dir is where records lie; it may be shared by the forges of one state folder,
	// and is made if it is missing.
	Dir string
	// Key is the MAC's, shared by all hosts; at least minKey bytes.
	Key []byte
	// Host is the label shown in our comments.
	Host string

	// Low and High bound the settling wait, which is paid only where the forge's
	// lists can be behind a write (Caps.Lags). Both 0: never.
	Low, High time.Duration
	TTL       time.Duration // 0: defaultTTL; at least four times P
	// Posting is P at its least; 0: defaultPosting. Tests make it shorter.
	Posting time.Duration

	// Report is told what a person may want to know; nil: nobody is. It must not call
	// the Reserver.
	Report func(context.Context, Report)

	DeleteAtEnd bool // the comment; else it is edited to the outcome
	Lock        bool // the conversation, while we hold it, where the forge can
}

// Report is what became of a reservation that a person may want to know. What is
// "lost", "locked" (and stays so), "not cleared" (yet), or "given up".
type Report struct {
	Claim   string
	Ref     slot.Ref
	Path    string
	Comment int64 // 0: not known
	What    string
	Why     string
}

// Reserver makes and keeps reservations at one forge. It may be used by any number
// of goroutines, and any number of processes may use one folder.
type Reserver struct {
	o     Options
	rules rules
	dir   folder
	me    login

	jitter func(time.Duration) time.Duration // in [0, n]
}

// New checks the options. Its errors match slot.ErrConfig.
func New(o Options) (*Reserver, error) {
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Posting == 0 {
		o.Posting = defaultPosting
	}
	low, high := o.Low, o.High
	if !o.Caps.Lags {
		low, high = 0, 0
	}
	r := &Reserver{o: o, dir: folder(o.Dir), rules: newRules(low, high, o.Posting, o.TTL), jitter: func(n time.Duration) time.Duration {
		return rand.N(n + 1)
	}}
	bad := func(format string, args ...any) (*Reserver, error) {
		return nil, fmt.Errorf("%w: reservation: %s", slot.ErrConfig, fmt.Sprintf(format, args...))
	}
	switch {
	case o.Thread == nil || o.Clock == nil || o.Log == nil || o.Forge == "" || !filepath.IsAbs(o.Dir):
		return bad("forge, clock, log and an absolute folder are needed")
	case len(o.Key) < minKey:
		return bad("the key has %d bytes; all hosts must share one of at least %d", len(o.Key), minKey)
	case o.Low < 0 || o.High < o.Low:
		return bad("recheck %v-%v is no range", o.Low, o.High)
	case o.Posting < minPosting || r.rules.posting > maxTime:
		return bad("a posting time of %v is out of range", o.Posting)
	case o.TTL < 4*r.rules.posting || o.TTL > maxTime:
		return bad("ttl %v must be at least %v and at most %v", o.TTL, 4*r.rules.posting, maxTime)
	}
	return r, nil
}
