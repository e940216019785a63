package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Claims is where claims, runs, decisions and holds are.
type Claims interface {
	claim.Store
	claim.Journal
	Address() string // for people, without secrets
}

// Wish is what a caller wants to be done.
type Wish struct {
	Ref  slot.Ref
	Kind slot.EventKind
	Rule *string // nil: every rule that wants it
	Note string
	Key  string   // the caller's idempotency key; may be empty
	Run  []string // a command, from the server's own user only
	Dir  string   // and its working folder
}

// Broker does what needs more than a store. Its errors are slot's.
type Broker interface {
	// Dispatch puts a wish in the queue. When it returns, the wish is on disk.
	Dispatch(ctx context.Context, w Wish) ([]queue.Accepted, error)
	// Stop ends the run of a ref and returns when its tree is gone, or ctx ends.
	// It reports whether there was one.
	Stop(ctx context.Context, ref slot.Ref, reason string, hold bool) (bool, error)
	// Takeover ends the run of a ref, and leaves the slot to the head of the line.
	Takeover(ctx context.Context, ref slot.Ref, reason string) (bool, error)
	// Log opens the log of a run of this host; slot.ErrUsage if it left none.
	Log(run slot.Run) (io.ReadCloser, error)
	// Ended reports whether the run writes no more.
	Ended(ctx context.Context, run slot.Run) (bool, error)
}

// Options are what the API serves, and to whom.
type Options struct {
	Claims  Claims
	Queue   queue.Store         // nil: there is no queue here
	Broker  Broker              // nil: what it does is refused with slot.ErrConfig
	Grammar func() slot.Grammar // asked for each ref; nil: the plain one

	// Names tells under which name the slots of a repository are kept, which may have
	// another name by now. With ask its forge is asked about a name that nobody heard
	// of yet. nil: a repository has one name.
	Names func(ctx context.Context, repo string, ask bool) (string, error)

	// Boot is this host's boot id, UID the user that the server runs as.
	Boot string
	UID  int
	// Sight looks at processes of this host, to see for itself when a caller says
	// that one of them is dead. With nil the caller is believed.
	Sight claim.Sight

	// Tokens are those of callers over TCP; their names differ. It is asked for each
	// request; nil: none.
	Tokens func() []Token
	// Open: callers on loopback need no token for what dispatch may.
	Open bool

	Version string
	Metrics http.Handler                // nil: no /metrics
	Renewed func(result string, n int)  // counts renewals: ok, lost or unknown; nil: nobody does
	Ready   func(context.Context) error // nil: always
	Feed    *Feed                       // nil: no stream of changes
	Log     *slog.Logger                // nil: none
}

// New makes the handler of everything under /api/v1, and of /healthz, /readyz and
// /metrics. The http.Server that it is given to must have ConnContext, and should
// have ReadHeaderTimeout and WriteTimeout set; bodies are bounded and timed here, and
// so are the answers that may take longer than that.
func New(opt Options) http.Handler {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Grammar == nil {
		opt.Grammar = func() slot.Grammar { return slot.Grammar{} }
	}
	if opt.Tokens == nil {
		opt.Tokens = func() []Token { return nil }
	}
	if opt.Renewed == nil {
		opt.Renewed = func(string, int) {}
	}
	s := &server{Options: opt, fails: newLimiter(), mux: http.NewServeMux()}
	s.shutdown.ctx, s.shutdown.begin = context.WithCancel(context.Background())
	for _, r := range s.routes() {
		s.mux.HandleFunc(r.method+" "+r.path, s.guard(r))
	}
	s.mux.HandleFunc("/", s.nowhere)
	return s
}

type server struct {
	Options
	fails *limiter
	lines lines

	grants grants

	shutdown shutdown
	mux      *http.ServeMux
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// routes is everything that is served, in the order of the document.
func (s *server) routes() []route {
	var all []route
	for _, part := range [][]route{claimRoutes(), journalRoutes(), workRoutes(), streamRoutes(), s.plainRoutes()} {
		all = append(all, part...)
	}
	return all
}
