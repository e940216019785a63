package supervise

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// parent forks processes and reaps everything that becomes a child of ours, the
// orphans of a worker among them. While it is open no other part of the program
// may start processes: their exit status would be taken away here.
type parent struct {
	mu      sync.Mutex // held from the fork until the child is known
	waiting map[int]chan syscall.WaitStatus
	closed  bool // nobody is reaped any more
	chld    chan os.Signal
	ready   chan struct{} // closed when ends of children are told
}

// newParent starts to reap.
func newParent() *parent {
	p := &parent{
		waiting: map[int]chan syscall.WaitStatus{},
		chld:    make(chan os.Signal, 1),
		ready:   make(chan struct{}),
	}
	go func() {
		signal.Notify(p.chld, unix.SIGCHLD) // some 0.2 ms, beside what comes before the first fork
		close(p.ready)
		p.reap()
	}()
	return p
}

// close stops reaping.
func (p *parent) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	go func() { // it takes as long as Notify, and nobody needs to wait for it
		<-p.ready
		signal.Stop(p.chld)
		close(p.chld)
	}()
}

func (p *parent) reap() {
	for range p.chld {
		p.mu.Lock()
		for !p.closed {
			var ws syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil || pid <= 0 {
				break
			}
			if c, ok := p.waiting[pid]; ok {
				c <- ws
				delete(p.waiting, pid)
			}
		}
		p.mu.Unlock()
	}
}

// job is a process to start.
type job struct {
	Path string   `json:"path"`
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	// Terminal makes the process the leader of a session of its own whose
	// terminal is its descriptor TTY; else it leads a process group.
	Terminal bool `json:"terminal,omitempty"`
	TTY      int  `json:"tty,omitempty"`
	// Session makes it leader of a session without a terminal.
	Session bool `json:"-"`

	files []*os.File // its descriptors 0, 1, 2, ...
}

// start forks and executes a job. The channel gives its wait status, once.
func (p *parent) start(j job) (pid int, ended <-chan syscall.WaitStatus, err error) {
	fds := make([]uintptr, len(j.files))
	for i, f := range j.files {
		fds[i] = rawFD(f)
	}
	attr := &syscall.ProcAttr{Dir: j.Dir, Env: j.Env, Files: fds, Sys: &syscall.SysProcAttr{Setpgid: true}}
	if j.Terminal || j.Session {
		attr.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: j.Terminal, Ctty: j.TTY}
	}
	<-p.ready
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err = syscall.ForkExec(j.Path, j.Argv, attr)
	if err != nil {
		return 0, nil, err
	}
	c := make(chan syscall.WaitStatus, 1)
	p.waiting[pid] = c
	return pid, c, nil
}

// rawFD is the descriptor of f. Unlike f.Fd it leaves a pipe of ours unblocking.
func rawFD(f *os.File) (fd uintptr) {
	fd = ^uintptr(0)
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(n uintptr) { fd = n })
	}
	return fd
}
