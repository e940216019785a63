package race

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What a worker is told beside what oneslot tells it.
const (
	roleVar    = "RACE_ROLE"
	worldVar   = "RACE_WORLD"   // the test's folder; marks everything it starts
	nameVar    = "RACE_NAME"    // for the journal
	spawnedVar = "RACE_SPAWNED" // boot time at which its oneslot was started
	shapeVar   = "RACE_SHAPE"   // see below
	workVar    = "RACE_WORK"    // how long it works
	untilVar   = "RACE_UNTIL"   // or: until this file is there
)

// The shapes of a worker's tree.
const (
	plain    = "plain"    // one process
	stubborn = "stubborn" // it and a child that outlives it ignore TERM
	strayed  = "strayed"  // a grandchild in a session of its own outlives it
)

// beat is how often each process of a tree says that it still works.
const beat = 10 * time.Millisecond

// workerMain is the command under `oneslot run`. From its first instruction on
// it has the slot for itself, and says so if it has not.
func workerMain() error {
	at := boot()
	me, err := newScribe()
	if err != nil {
		return err
	}
	others, err := me.others()
	if err != nil {
		return err
	}
	first := line{Event: "start", Others: others}
	if first.Told, first.Attempt, err = told(); err != nil {
		return err
	}
	me.line.At = at
	if err := me.write(first); err != nil {
		return err
	}
	if err := me.mark(); err != nil {
		return err
	}
	shape := os.Getenv(shapeVar)
	if shape == stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	if shape != plain && shape != "" {
		if err := offspring(shape).Start(); err != nil {
			return err
		}
	}
	work, err := time.ParseDuration(os.Getenv(workVar))
	if err != nil && os.Getenv(untilVar) == "" {
		return err
	}
	over := func() bool { return boot() >= at+work }
	if file := os.Getenv(untilVar); file != "" {
		over = func() bool { _, err := os.Stat(file); return err == nil }
	}
	for !over() {
		if err := me.write(line{Event: "beat"}); err != nil {
			return err
		}
		time.Sleep(beat)
	}
	if err := me.unmark(); err != nil {
		return err
	}
	return me.write(line{Event: "end"})
}

// offspring is a further process of a tree.
func offspring(shape string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, roleVar+"=") || strings.HasPrefix(kv, shapeVar+"=")
	}), roleVar+"=child", shapeVar+"="+shape)
	if shape == strayed || shape == "stray" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	return cmd
}

// childMain is what a worker leaves behind: it goes on until it is ended, longer
// than any test has patience.
func childMain() error {
	switch os.Getenv(shapeVar) {
	case stubborn:
		signal.Ignore(syscall.SIGTERM)
	case strayed: // only the parent of the grandchild
		return offspring("stray").Start()
	}
	me, err := newScribe()
	if err != nil {
		return err
	}
	for end := boot() + 2*patience; boot() < end; time.Sleep(beat) {
		if err := me.write(line{Event: "beat"}); err != nil {
			return err
		}
	}
	return errors.New("nobody ended it")
}

// scribe writes the journal for one process.
type scribe struct {
	line // what all its lines have in common
	file *os.File
	dir  string
}

func newScribe() (*scribe, error) {
	dir := os.Getenv(worldVar)
	f, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s := &scribe{file: f, dir: dir, line: line{
		Slot: os.Getenv("ONESLOT_SLUG"), Run: os.Getenv("ONESLOT_RUN"), Name: os.Getenv(nameVar), PID: os.Getpid(),
	}}
	if s.Fence, err = strconv.ParseInt(os.Getenv("ONESLOT_FENCE"), 10, 64); err != nil {
		return nil, err
	}
	spawned, err := strconv.ParseInt(os.Getenv(spawnedVar), 10, 64)
	s.Spawned = time.Duration(spawned)
	return s, err
}

// write adds a line, of this moment or of the one it was given.
func (s *scribe) write(l line) error {
	at := s.At
	if s.At = 0; at == 0 {
		at = boot()
	}
	common := s.line
	common.Event, common.Others, common.Told, common.Attempt = l.Event, l.Others, l.Told, l.Attempt
	common.At = at
	return common.append(s.file)
}

// others names everybody else on the slot: by the environment, and by the mark
// that a worker leaves while it works.
func (s *scribe) others() ([]string, error) {
	all, err := processes(func(env map[string]string) bool {
		return env["ONESLOT_SLUG"] == s.Slot && env["ONESLOT_RUN"] != s.Run && env[worldVar] == s.dir
	})
	var names []string
	for _, p := range all {
		names = append(names, p.String())
	}
	if data, e := os.ReadFile(s.markPath()); e == nil {
		var pid int
		var began uint64
		if _, e := fmt.Sscan(string(data), &pid, &began); e == nil && began != 0 && ticks(pid) == began {
			names = append(names, fmt.Sprintf("%d, by its mark", pid))
		}
	}
	return names, err
}

func (s *scribe) markPath() string { return filepath.Join(s.dir, "mark-"+s.Slot) }

// mark says that the slot is worked on. One that was killed leaves its mark.
func (s *scribe) mark() error {
	tmp := fmt.Sprintf("%s.%d", s.markPath(), s.PID)
	if err := os.WriteFile(tmp, fmt.Appendf(nil, "%d %d", s.PID, ticks(s.PID)), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.markPath())
}

func (s *scribe) unmark() error {
	if err := os.Remove(s.markPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
