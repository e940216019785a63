package race

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// served is a world whose store a daemon keeps, and whose processes ask it.
type served struct {
	*world
	address string
	daemon  *process
}

func newServed(t *testing.T, network string) *served {
	t.Helper()
	s := &served{world: newWorld(t, plainProgram)}
	listen := "unix:" + filepath.Join(s.dir, "s")
	s.address = listen
	if network == "http" {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listen = lis.Addr().String()
		s.address = "http://" + listen
		lis.Close() // and the daemon takes it
	}
	s.serve(listen)
	return s
}

// serve starts the daemon, and waits until it answers.
func (s *served) serve(listen string) {
	s.t.Helper()
	s.daemon = s.start(job{args: []string{"serve", "--listen", listen}})
	poll(s.t, patience, "the daemon serves", func() bool {
		select {
		case <-s.daemon.done:
			s.t.Fatalf("the daemon ended: %s", s.daemon.err.String())
		default:
		}
		code, _ := s.do(s.through(job{args: []string{"peek", "-q", "key:none"}}))
		return code == 0
	})
}

// through is a job whose store is the daemon's.
func (s *served) through(j job) job {
	j.env = append(j.env, "ONESLOT_STORE="+s.address)
	return j
}

// P11: a client whose supervisor is killed, or frozen, is ended by its warden
// before its claim is over, and one that waits for the slot has it then.
func TestRemote_ATreeEndsBeforeItsDeadline(t *testing.T) {
	for _, network := range []string{"unix", "http"} {
		for sig, shape := range map[syscall.Signal]string{syscall.SIGKILL: plain, syscall.SIGSTOP: stubborn} {
			t.Run(network+"/"+unix.SignalName(sig), func(t *testing.T) {
				t.Parallel()
				endsBefore(t, newServed(t, network), sig, shape)
			})
		}
	}
}

func endsBefore(t *testing.T, s *served, sig syscall.Signal, shape string) {
	r := ref(t, "remote")
	env := append(work(shape, time.Hour), nameVar+"=first")
	first := s.start(s.through(run(r, env, "--ttl", "8s", "--grace", "1s")))
	s.started("first")
	// The second has a registry of its own, as one of another user: it finds nothing
	// of the first but what the store tells.
	env = append(work(plain, 0), nameVar+"=second", "XDG_STATE_HOME="+s.path("other"))
	second := s.start(s.through(run(r, env, "--on-busy", "wait")))
	s.waiting(r, 1)
	first.signal(sig)
	deadline := boot() + s.look(r).Live().Left
	if code := s.code(second); code != 0 {
		t.Errorf("the second: exit %d\n%s", code, second.err.String())
	}
	lines := s.clean()
	if n := starts(lines); n < 2 {
		t.Errorf("%d started", n)
	}
	for _, l := range lines {
		if l.Name == "first" && l.At > deadline {
			t.Fatalf("the first showed life %v after its deadline", l.At-deadline)
		}
	}
	first.kill()
	s.code(first)
}

// A daemon that is killed ends no client's work: its claims are there when it is
// back, and those who wait in line keep their places.
func TestRemote_TheDaemonIsKilled(t *testing.T) {
	t.Parallel()
	s := newServed(t, "unix")
	r := ref(t, "remote")
	first := s.start(s.through(run(r, []string{nameVar + "=first", untilVar + "=" + s.path("go")}, "--ttl", "30s")))
	s.started("first")
	var line []*process
	for n, name := range []string{"second", "third"} {
		line = append(line, s.start(s.through(run(r, append(work(plain, 0), nameVar+"="+name), "--on-busy", "wait"))))
		s.waiting(r, n+1)
	}
	s.daemon.kill()
	<-s.daemon.done
	if code, p := s.do(s.through(job{args: []string{"peek", "-q", r.String()}})); code != 69 {
		t.Errorf("without a daemon: exit %d, want 69\n%s", code, p.err.String())
	}
	s.serve(s.address)
	touch(t, s.path("go"))
	for i, p := range append([]*process{first}, line...) {
		if code := s.code(p); code != 0 {
			t.Errorf("number %d: exit %d\n%s", i, code, p.err.String())
		}
	}
	var order []string
	for _, l := range s.clean() {
		if l.Event == "start" {
			order = append(order, l.Name)
		}
	}
	if len(order) != 3 || order[1] != "second" {
		t.Errorf("started in the order %v", order)
	}
}
