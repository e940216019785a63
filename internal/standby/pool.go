package standby

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// Pool keeps one supervisor started in advance.
type Pool struct {
	// Spare is whether it does; if not, each is started when it is asked for.
	Spare bool

	argv []string
	env  func() []string
	log  *slog.Logger

	mu     sync.Mutex
	idle   *Supervisor
	closed bool
	making bool
}

// NewPool starts supervisors with argv: this program and its verb for them. env is
// asked for their environment each time.
func NewPool(argv []string, env func() []string, log *slog.Logger) *Pool {
	return &Pool{Spare: true, argv: argv, env: env, log: log}
}

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

// Back takes a supervisor back that there was no job for, so that the next one does
// not have to be started.
func (p *Pool) Back(s *Supervisor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Spare || p.closed || s.over() || p.idle != nil && !p.idle.over() {
		s.Close()
		return
	}
	p.idle = s
}

// Refill starts the next supervisor if none waits. It is called when the last one
// has started its worker, so that it does not compete with that for the processor.
func (p *Pool) Refill() {
	p.mu.Lock()
	if !p.Spare || p.closed || p.making || p.idle != nil && !p.idle.over() {
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

// homeMost bounds the wait for one that was sent home.
const homeMost = 2 * time.Second

// Close sends the waiting one home, and sees it off: it may have the store open. Those
// that have a job go on.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	if idle == nil {
		return
	}
	idle.Close()
	select {
	case <-idle.ended:
	case <-time.After(homeMost):
	}
}

// start starts a supervisor. It is collected when it ends.
func (p *Pool) start() (*Supervisor, error) {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env = inherited(p.env())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	job, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer job.Close()
	word, say, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer say.Close()
	cmd.Stdin, cmd.ExtraFiles = job, []*os.File{say}
	if err := cmd.Start(); err != nil {
		in.Close()
		word.Close()
		return nil, fmt.Errorf("a supervisor cannot be started: %w", err)
	}
	s := &Supervisor{in: in, process: cmd.Process, most: handMost, ended: make(chan struct{}), said: make(chan struct{})}
	go s.listen(word)
	s.Process, err = proc.Identify(cmd.Process.Pid)
	go func() {
		cmd.Wait() //nolint:errcheck // how it went is in the store
		close(s.ended)
	}()
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("a supervisor just started: %w", err)
	}
	return s, nil
}

// inherited drops from an environment what the service manager told the daemon of
// itself: a worker would answer in its name.
func inherited(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID", "SYSTEMD_EXEC_PID",
			"JOURNAL_STREAM", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES":
			return true
		}
		return false
	})
}

// Supervisor is one that waits for a job.
type Supervisor struct {
	Process slot.Process
	process *os.Process
	in      *os.File
	most    time.Duration // handMost
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

// handMost is how long a supervisor may take to take its job.
const handMost = 10 * time.Second

// Start hands the job over. After an error the supervisor has started nothing, and
// never will.
func (s *Supervisor) Start(j Job) error {
	data, err := json.Marshal(j)
	if err == nil {
		failpoint.Hit(failpoint.BeforeHandover)
		err = s.hand(data)
	}
	if e := s.in.Close(); err == nil {
		err = e
	}
	failpoint.Hit(failpoint.AfterHandover)
	if err != nil {
		s.kill()
	}
	return err
}

// hand writes the job. One larger than the pipe waits for its reader.
func (s *Supervisor) hand(data []byte) error {
	if err := s.in.SetWriteDeadline(time.Now().Add(s.most)); err != nil {
		return err
	}
	_, err := s.in.Write(data)
	return err
}

// Close sends it home without a job.
func (s *Supervisor) Close() { s.in.Close() }

// kill ends one that does not go home by itself.
func (s *Supervisor) kill() {
	s.Close()
	s.process.Kill() //nolint:errcheck // it has ended
}
