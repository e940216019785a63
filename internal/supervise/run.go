package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// run is one run under way. All of it but the desk belongs to the goroutine of
// Run.
type run struct {
	Spec
	ctx  context.Context
	home rundir.Home
	dir  rundir.Dir
	path string // of the program

	keep keeper
	sigs chan os.Signal
	// listening is closed when all signals are told; until then nothing is forked.
	listening chan struct{}
	events    chan event
	wishes    chan wish // from the socket
	then      func()    // what waits for the step on its way to be answered

	lock   *os.File
	parent *parent
	host   host // whom the worker hangs under
	log    *rundir.Log
	io     *stdio
	lis    net.Listener
	server *http.Server

	id      rundir.Identity
	done    atomic.Bool     // the worker released the claim over the socket
	pending []chan<- Answer // who waits for the renewal on its way
	tree    *ender
	stuck   bool // somebody who cannot be ended was told of
	fin     finish
	exited  bool // the worker's end was seen
	unasked bool // and we had not asked for it
	kept    int
	left    int   // processes that had to be ended after the worker
	ran     bool  // a worker was started
	unready error // what prepare could not do
	refused error
}

// Run supervises one run from its granted claim to its release, and reports how
// it went. It returns when nothing of the run is left on this host.
//
// The error says why no worker was started: a *StartError, a *slot.BusyError
// (the earlier tree could not be stopped), slot.ErrLost or slot.ErrUnknown. The
// report's Code is good in any case.
//
// Run takes over the process: its children, and the signals INT, TERM, HUP, QUIT
// (end the run; a second one kills), USR1 (look at the store now). The end of
// ctx is a TERM; give a context that signals do not end.
func Run(ctx context.Context, s Spec) (Report, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &run{
		Spec: s, ctx: own, home: rundir.In(s.State),
		sigs: make(chan os.Signal, 8), listening: make(chan struct{}), events: make(chan event, 16), wishes: make(chan wish),
		parent: newParent(),
	}
	defer r.parent.close()
	pipe := make(chan os.Signal, 1)
	go func() { // each signal costs a turn of two threads
		defer close(r.listening)
		r.listen(pipe)
	}()
	defer func() {
		go func() {
			<-r.listening
			signal.Stop(r.sigs)
			signal.Stop(pipe)
		}()
	}()
	failpoint.Hit(failpoint.AfterToken)

	now := s.Clock.Boot()
	r.keep = keeper{grace: s.Claim.Grace, slept: now - s.Clock.Awake()}
	lease := s.Claim.Left
	if lease <= 0 {
		lease = s.Claim.TTL
	}
	// This counts from now, not from when the claim was asked for, so the deadline
	// may be a little late. Nothing relies on it: nothing is forked before the
	// step to running, whose lease counts from before the question.
	r.keep.granted(now, lease)
	defer r.close()
	if err := r.open(); err != nil {
		r.refuse(noStart(err), err)
	} else {
		r.loop(ctx)
	}
	return r.settle()
}

// listen has signals told from now on. PIPE is caught, not ignored: the worker must not
// inherit that, and a reader that went away must not end us.
func (r *run) listen(pipe chan<- os.Signal) {
	signal.Notify(pipe, unix.SIGPIPE)
	signal.Notify(r.sigs, unix.SIGTERM, unix.SIGUSR1)
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		if !signal.Ignored(s) { // as under nohup, or for a shell's background job
			signal.Notify(r.sigs, s)
		}
	}
}

// noStart is how a run ends that an error kept from starting. The record has no use
// for a whole PATH.
func noStart(err error) ending {
	reason := err.Error()
	var start *StartError
	if errors.As(err, &start) && start.Path != "" {
		reason = start.Err.Error()
	}
	return ending{result: slot.NoStart, code: codeFor(err), reason: reason}
}

// codeFor is the exit code that goes with an error before the start.
func codeFor(err error) int {
	var start *StartError
	var busy *slot.BusyError
	switch {
	case errors.As(err, &start):
		return start.Code
	case errors.As(err, &busy):
		return exitBusy
	case errors.Is(err, slot.ErrLost):
		return exitLost
	}
	return exitUnknown
}

// refuse notes why no worker starts.
func (r *run) refuse(e ending, err error) {
	if r.keep.end == nil {
		r.keep.end = &e
	}
	r.refused = err
}

// open makes the run visible on this host, before anything is forked for it: its
// folder with the fork lock and our identity, then the registry entry.
func (r *run) open() (err error) {
	if r.Dir == "" {
		if r.Dir, err = os.Getwd(); err != nil {
			return &StartError{Code: exitCannotRun, Err: err}
		}
	}
	if r.path, err = lookup(r.Argv[0], r.Dir, r.Env); err != nil {
		return err
	}
	if err := proc.Adopt(); err != nil {
		r.Log.Warn("orphans of the worker will not be seen", "err", err)
	}
	if r.dir, err = r.home.Create(r.Claim.Run); err != nil {
		return fmt.Errorf("the run's folder: %w", err)
	}
	if r.lock, err = r.dir.Lock(); err != nil {
		return fmt.Errorf("the run's lock: %w", err)
	}
	r.id = rundir.Identity{
		Ref: r.Claim.Ref.String(), Claim: r.Claim.ID, Fence: r.Claim.Fence, UID: os.Getuid(),
		Boot: r.Clock.BootID(), Grace: r.Claim.Grace, Supervisor: r.Self,
	}
	if err := r.dir.WriteIdentity(r.id); err != nil {
		return fmt.Errorf("the run's folder: %w", err)
	}
	return r.enter()
}

// prepare makes what the worker is given and can be made while the store still
// takes its step to running: the events it is told of, and its socket.
func (r *run) prepare() (err error) {
	events := []byte("[]")
	if r.Tell != nil {
		if events, err = r.Tell(r.ctx, r.dir.Keep); err != nil {
			return fmt.Errorf("%w: the run's events: %w", slot.ErrUnknown, err)
		}
	}
	if err := r.dir.WriteEvents(events); err != nil {
		return fmt.Errorf("the run's events: %w", err)
	}
	if r.lis, err = r.dir.Listen(); err == nil {
		r.server = serveSocket(r.lis, r.Key, (*runDesk)(r))
	}
	return err
}

// reopen makes the run visible again if its folder or entry was removed: whoever
// finds no claim in the store must still find us.
func (r *run) reopen() error {
	if _, err := r.dir.Identity(); errors.Is(err, fs.ErrNotExist) {
		if _, err := r.home.Create(r.Claim.Run); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := r.dir.WriteIdentity(r.id); err != nil {
			return err
		}
	}
	return r.enter()
}

// refs are all whose slots the run has.
func (r *run) refs() []slot.Ref { return append([]slot.Ref{r.Claim.Ref}, r.Claim.Also...) }

// enter puts the run on the registry under each of its slots: whoever gets one of
// them next must find it.
func (r *run) enter() error {
	for _, ref := range r.refs() {
		if err := r.home.Enter(ref.Slug(), r.Claim.Run); err != nil {
			return err
		}
	}
	return nil
}

// launch forks the worker. The claim is in its running phase by now.
func (r *run) launch() (err error) {
	if r.unready != nil {
		return r.unready
	}
	<-r.listening
	if r.log, err = r.dir.OpenLog(r.LogBytes); err != nil {
		return err
	}
	if r.io, err = openStdio(r.Stdin, r.Stdout, r.Stderr, r.log, r.outputLost); err != nil {
		return err
	}
	j := job{
		Path: r.path, Argv: r.Argv, Env: r.environ(r.lis.Addr().String()), Dir: r.Dir, files: r.io.files[:],
	}
	if t := r.io.term; t != nil {
		j.Terminal, j.TTY = true, t.fd()
	}
	if r.host, err = r.newHost(); err != nil {
		return err
	}
	r.tree = r.newEnder()
	worker, err := r.host.fork(j)
	r.io.started()
	if errors.Is(err, slot.ErrUnknown) {
		return err
	}
	if err != nil {
		return startError(r.path, err)
	}
	r.ran = true
	if r.Timeout > 0 {
		r.keep.timeout = r.Clock.Boot() + r.Timeout
	}
	r.keep.warden = r.Claim.Warden
	failpoint.Hit(failpoint.BeforeIdentity)
	if !worker.IsZero() {
		r.id.Worker, r.id.Group = worker, worker.PID
		if err := r.dir.WriteIdentity(r.id); err != nil { // it is found by its environment, too
			r.Log.Warn("the worker's identity could not be noted", "run", r.Claim.Run, "err", err)
		}
	}
	return nil
}

// close lets go of everything, in whatever state the run is.
func (r *run) close() {
	if r.tree != nil {
		r.tree.cancel()
	}
	if r.server != nil {
		r.server.Close()
	} else if r.lis != nil {
		r.lis.Close()
	}
	if r.io != nil {
		r.io.close()
	}
	if r.host != nil {
		r.host.close()
	}
	if r.log != nil {
		r.log.Close()
	}
	if r.lock != nil {
		r.lock.Close()
	}
}

// say tells people something that they should know now.
func (r *run) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.Log.Warn(text, "run", r.Claim.Run, "ref", r.Claim.Ref)
	if r.Stderr != nil {
		end := "\n"
		if r.io != nil && r.io.term != nil {
			end = "\r\n" // our terminal may be raw
		}
		fmt.Fprintf(r.Stderr, "oneslot: %s: %s%s", r.Claim.Ref, text, end)
	}
}

// outputLost tells that one of our outputs takes no more. It is called beside the
// loop.
func (r *run) outputLost(name string, err error) {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	r.say("%s: %v; the rest of the worker's output is lost from here on (the log has it)", name, err)
}

// storeTime bounds one call to the store.
func (r *run) storeTime() time.Duration {
	if r.Claim.Warden {
		return max(r.keep.ttl/3, 200*time.Millisecond)
	}
	return max(r.keep.ttl, 6*time.Second) // SQLite waits 5 s for a lock
}
