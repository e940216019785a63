package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// Supervisor and warden talk in JSON lines over two pipes, which nobody else
// has. Nothing of it is ever in an argument list.
type (
	// toWarden goes down. The first one has the job.
	toWarden struct {
		Job   *job          `json:"job,omitempty"`
		Grace time.Duration `json:"grace,omitempty"`
		Lease *lease        `json:"lease,omitempty"`
		Leave bool          `json:"leave,omitempty"` // end now, without the tree
	}
	// lease is a granted deadline: TTL from the boot time Sent.
	lease struct {
		N    int           `json:"n"` // acknowledged by this number
		Sent time.Duration `json:"sent"`
		TTL  time.Duration `json:"ttl"`
	}
	// fromWarden goes up.
	fromWarden struct {
		Worker *slot.Process       `json:"worker,omitempty"`
		Errno  syscall.Errno       `json:"errno,omitempty"` // the job could not be started; ETIMEDOUT: it came too late
		Ack    int                 `json:"ack,omitempty"`
		Status *syscall.WaitStatus `json:"status,omitempty"` // the worker ended
		Late   bool                `json:"late,omitempty"`   // because the warden pressed it
	}
)

// The warden's descriptors beside the worker's three.
const (
	wardenIn   = 3
	wardenOut  = 4
	wardenLock = 5
)

// warden is the supervisor's side of one.
type warden struct {
	r       *run
	proc    slot.Process
	down    *os.File
	up      *os.File
	counts  map[int]func() // leases on their way
	n       int
	started chan fromWarden // the answer to the job
}

// newWarden starts a warden. It can be found by the run's id, like the worker,
// and holds the run's fork lock with us.
func (r *run) newWarden() (host, error) {
	if len(r.WardenArgv) == 0 {
		return nil, errors.New("this run needs a warden, and there is none to start")
	}
	theirIn, down, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	up, theirOut, err := os.Pipe()
	if err != nil {
		down.Close()
		return nil, err
	}
	defer theirOut.Close()
	w := &warden{r: r, down: down, up: up, counts: map[int]func(){}, started: make(chan fromWarden, 1)}
	pid, ended, err := r.parent.start(job{
		Path: r.WardenArgv[0], Argv: r.WardenArgv, Dir: "/", Session: true,
		Env:   []string{"ONESLOT_RUN=" + r.Claim.Run, "ONESLOT_RUNS=" + strings.Join(append(r.Chain[:len(r.Chain):len(r.Chain)], r.Claim.Run), ",")},
		files: []*os.File{r.io.files[0], r.io.files[1], r.io.files[2], theirIn, theirOut, r.lock},
	})
	if err != nil {
		w.close()
		return nil, fmt.Errorf("the warden: %w", err)
	}
	if w.proc, err = proc.Identify(pid); err != nil {
		w.close()
		return nil, fmt.Errorf("the warden: %w", err)
	}
	go w.listen()
	go func() {
		<-ended
		r.tell(w.died)
	}()
	r.id.Warden = w.proc
	if err := r.dir.WriteIdentity(r.id); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// listen passes on what the warden says.
func (w *warden) listen() {
	dec := json.NewDecoder(w.up)
	for {
		var m fromWarden
		if dec.Decode(&m) != nil {
			close(w.started)
			return // it died, which is told elsewhere
		}
		switch {
		case m.Worker != nil || m.Errno != 0:
			w.started <- m
		default:
			w.r.tell(func() { w.said(m) })
		}
	}
}

func (w *warden) said(m fromWarden) {
	if count := w.counts[m.Ack]; count != nil {
		count()
		delete(w.counts, m.Ack)
	}
	if m.Status != nil && !w.r.exited {
		if m.Late && w.r.keep.end == nil {
			now := w.r.Clock.Boot()
			w.r.keep.stopNow(now, ending{
				result: slot.Lost, code: exitLost, reason: "the warden ended the run: its claim was not renewed in time",
			})
		}
		w.r.workerEnded(m.Status)
	}
}

// died is the end of the warden. Before the worker's end was told, it is the end
// of the run as well: nobody would end the tree if we were lost next.
func (w *warden) died() {
	if w.r.exited || !w.r.ran {
		return
	}
	w.r.keep.stopNow(w.r.Clock.Boot(), ending{result: slot.Failed, code: exitUnknown, reason: "its warden ended"})
	w.r.exited = true
}

// fork hands the job over and waits for the answer. A warden that gives none
// may have forked already: then the run has begun, and is ended.
func (w *warden) fork(j job) (slot.Process, error) {
	failpoint.Hit(failpoint.BeforeFork)
	r := w.r
	if err := r.dir.Forking(); err != nil {
		return slot.Process{}, fmt.Errorf("%w: the run's folder: %w", slot.ErrUnknown, err)
	}
	now := r.Clock.Boot()
	sent := r.keep.deadline - r.keep.ttl
	patience := min(r.keep.termAt()-now, 10*time.Second)
	w.down.SetWriteDeadline(time.Now().Add(patience))
	err := w.send(toWarden{Job: &j, Grace: r.keep.grace, Lease: &lease{Sent: sent, TTL: r.keep.ttl}})
	wait := time.NewTimer(patience)
	defer wait.Stop()
	if err == nil {
		select {
		case m, ok := <-w.started:
			switch {
			case !ok:
				err = errors.New("it died")
			case m.Errno == unix.ETIMEDOUT:
				return slot.Process{}, fmt.Errorf("%w: the claim ran out before the command could be started", slot.ErrUnknown)
			case m.Errno != 0:
				return slot.Process{}, m.Errno
			default:
				failpoint.Hit(failpoint.AfterFork)
				return *m.Worker, nil
			}
		case <-wait.C:
			err = errors.New("it does not answer")
		}
	}
	proc.Signal(w.proc, unix.SIGKILL)
	r.keep.stopNow(now, ending{result: slot.Failed, code: exitUnknown, reason: fmt.Sprintf("the warden: %v", err)})
	return slot.Process{}, nil
}

func (w *warden) extend(sent, ttl time.Duration, count func()) {
	w.n++
	w.counts[w.n] = count
	// A frozen warden fills its pipe at last; never wait for it here.
	w.down.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	w.send(toWarden{Lease: &lease{N: w.n, Sent: sent, TTL: ttl}})
}

func (w *warden) send(m toWarden) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.down.Write(append(data, '\n'))
	return err
}

func (w *warden) under() []slot.Process  { return []slot.Process{w.r.Self, w.proc} }
func (w *warden) except() []slot.Process { return []slot.Process{w.proc} }

// collect gives the warden a moment to tell how the worker ended. One that is
// frozen cannot, and is of no more use.
func (w *warden) collect() {
	w.r.later(time.Second, func() {
		if !w.r.exited {
			proc.Signal(w.proc, unix.SIGKILL)
		}
	})
}

func (w *warden) leave() { w.send(toWarden{Leave: true}) }

// close lets the warden go; it ends whatever is left.
func (w *warden) close() {
	w.down.Close()
	w.up.Close()
}
