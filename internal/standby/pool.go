package standby

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// Pool keeps one supervisor started in advance.
type Pool struct {
	argv []string
	log  *slog.Logger

	mu     sync.Mutex
	idle   *Supervisor
	closed bool
	making bool
}

// NewPool starts supervisors with argv: this program and its verb for them.
func NewPool(argv []string, log *slog.Logger) *Pool { return &Pool{argv: argv, log: log} }

// Get gives a supervisor that waits for a job. The error says why there is none:
// one that cannot work, since its configuration or store is not to be had, is found
// out here, before anything is claimed in its name.
func (p *Pool) Get() (*Supervisor, error) {
	p.mu.Lock()
	s := p.idle
	p.idle = nil
	p.mu.Unlock()
	if s == nil || s.over() {
		var err error
		if s, err = p.start(); err != nil {
			return nil, err
		}
	}
	if err := s.await(); err != nil {
		return nil, err
	}
	return s, nil
}

// Refill starts the next supervisor if none waits. It is called when the last one
// has started its worker, so that it does not compete with that for the processor.
func (p *Pool) Refill() {
	p.mu.Lock()
	if p.closed || p.making || p.idle != nil && !p.idle.over() {
		p.mu.Unlock()
		return
	}
	p.making = true
	p.mu.Unlock()
	s, err := p.start()
	if err != nil {
		p.log.Warn("no supervisor could be started in advance", "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making = false
	if err == nil {
		p.idle = s
	}
	if p.closed && p.idle != nil {
		p.idle.Close()
		p.idle = nil
	}
}

// Close sends the waiting one home. Those that have a job go on.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.idle != nil {
		p.idle.Close()
		p.idle = nil
	}
}

// start starts a supervisor. It is collected when it ends.
func (p *Pool) start() (*Supervisor, error) {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	word, say, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{say}
	err = cmd.Start()
	say.Close()
	if err != nil {
		word.Close()
		return nil, fmt.Errorf("a supervisor cannot be started: %w", err)
	}
	s := &Supervisor{in: in, ended: make(chan struct{}), said: make(chan struct{})}
	go s.listen(word)
	s.Process, err = proc.Identify(cmd.Process.Pid)
	go func() {
		cmd.Wait() //nolint:errcheck // how it went is in the store
		close(s.ended)
	}()
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("a supervisor just started: %w", err)
	}
	return s, nil
}

// Supervisor is one that waits for a job.
type Supervisor struct {
	Process slot.Process
	in      io.WriteCloser
	ended   chan struct{}
	said    chan struct{} // closed when it has said whether it can work
	word    string        // what it said
}

func (s *Supervisor) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// Start hands the job over. After an error the supervisor is of no use any more,
// and has started nothing.
func (s *Supervisor) Start(j Job) error {
	data, err := json.Marshal(j)
	if err == nil {
		failpoint.Hit(failpoint.BeforeHandover)
		_, err = s.in.Write(data)
	}
	if e := s.in.Close(); err == nil {
		err = e
	}
	failpoint.Hit(failpoint.AfterHandover)
	return err
}

// Ended is closed when the process has ended.
func (s *Supervisor) Ended() <-chan struct{} { return s.ended }

// Close sends it home without a job.
func (s *Supervisor) Close() { s.in.Close() }
