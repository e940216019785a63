package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// wardenProcess is the worker's parent in a run that somebody could take over
// without seeing this host. It knows one thing: the deadline. When it nears, or
// when the supervisor is gone, the tree is ended.
type wardenProcess struct {
	clk    clock.Clock
	keep   keeper
	out    *json.Encoder
	events chan event
	tree   *ender
	orphan bool // the supervisor is gone
	leave  bool
}

// WardenMain is the hidden verb of the warden. It is started by a supervisor
// only, which talks to it over inherited descriptors, and returns the exit code.
func WardenMain(ctx context.Context) int {
	if err := wardenMain(ctx); err != nil {
		return exitUnknown
	}
	return 0
}

func wardenMain(ctx context.Context) error {
	for fd := wardenIn; fd <= wardenLock; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return err // not started by a supervisor
		}
	}
	in, out := os.NewFile(wardenIn, "supervisor"), os.NewFile(wardenOut, "supervisor")
	// Caught and dropped, but not ignored: the worker would inherit that. Who
	// wants the run to end tells the supervisor.
	drop := make(chan os.Signal, 1)
	signal.Notify(drop, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)

	clk, err := clock.System()
	if err != nil {
		return err
	}
	self, err := proc.Self()
	if err != nil {
		return err
	}
	if err := proc.Adopt(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	p := newParent()
	defer p.close()
	dec := json.NewDecoder(in)
	var first toWarden
	if err := dec.Decode(&first); err != nil || first.Job == nil || first.Lease == nil {
		return errors.New("no job")
	}
	w := &wardenProcess{
		clk: clk, out: json.NewEncoder(out), events: make(chan event, 16),
		keep: keeper{grace: first.Grace, warden: true, slept: clk.Boot() - clk.Awake()},
	}
	w.keep.granted(first.Lease.Sent, first.Lease.TTL)
	w.keep.asked() // renewals are the supervisor's

	// The job may have lain in the pipe for as long as this host was frozen.
	if w.clk.Boot() >= w.keep.termAt() {
		w.out.Encode(fromWarden{Errno: syscall.ETIMEDOUT})
		return unix.ETIMEDOUT
	}
	j := *first.Job
	j.files = []*os.File{os.Stdin, os.Stdout, os.Stderr}
	pid, ended, err := p.start(j)
	if err != nil {
		var errno syscall.Errno
		if !errors.As(err, &errno) {
			errno = syscall.EINVAL
		}
		w.out.Encode(fromWarden{Errno: errno})
		return err
	}
	if err := letGo(); err != nil {
		return err
	}
	worker, err := proc.Identify(pid)
	if err != nil {
		worker = slot.Process{} // it has ended already
	}
	w.out.Encode(fromWarden{Worker: &worker})

	below := func() proc.Tree { return proc.Tree{Under: []slot.Process{self}} }
	w.tree = &ender{
		none: p.childless,
		ctx:  ctx, tell: w.tell, below: below, tried: func(proc.Report, error) {},
		tree: func() proc.Tree {
			t := below()
			t.Run, _ = lookupEnv(os.Environ(), proc.RunVariable)
			if !worker.IsZero() {
				t.Groups = []proc.Group{{PGID: pid, Leader: worker}}
			}
			// The supervisor of an inner run has its own; ours is outside.
			return t
		},
	}
	go w.listen(dec)
	go func() {
		ws := <-ended
		w.tell(func() {
			w.out.Encode(fromWarden{Status: &ws, Late: w.tree.press >= termed && !w.orphan})
		})
	}()
	w.loop()
	return nil
}

// letGo drops the worker's three descriptors, so that their end is seen when the
// worker's copies are closed.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := range 3 {
		if err := dup2(int(null.Fd()), fd); err != nil {
			return err
		}
	}
	return nil
}

// listen passes on what the supervisor says, and that it is gone.
func (w *wardenProcess) listen(dec *json.Decoder) {
	for {
		var m toWarden
		if err := dec.Decode(&m); err != nil {
			w.tell(func() { w.orphan = true })
			return
		}
		w.tell(func() {
			w.leave = w.leave || m.Leave
			if m.Lease != nil {
				w.keep.granted(m.Lease.Sent, m.Lease.TTL)
				w.keep.asked()
				w.out.Encode(fromWarden{Ack: m.Lease.N})
			}
		})
	}
}

func (w *wardenProcess) tell(f event) { w.events <- f }

// loop presses the tree as the keeper says, until the supervisor is gone and the
// tree as well.
func (w *wardenProcess) loop() {
	timer := clock.NewTimer()
	timer.Reset(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case f := <-w.events:
			f()
		}
		if w.leave {
			return
		}
		now := w.clk.Boot()
		if w.orphan {
			members, err := w.tree.below().Members()
			if w.tree.gone || err == nil && len(members) == 0 {
				return
			}
			w.keep.stop(now, ending{result: slot.Vanish})
		}
		w.keep.clocks(now, w.clk.Awake())
		o := w.keep.next(now)
		grace := w.keep.grace
		if e := w.keep.end; e != nil {
			grace = min(e.kill, w.keep.killAt()) - now
		}
		w.tree.to(o.press, max(grace, 0))
		timer.Reset(max(o.wake-now, time.Millisecond))
	}
}
