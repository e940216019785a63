package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) guardVerb() *cobra.Command {
	var key keyFlags
	cmd := &cobra.Command{
		Use:   "guard [flags] -- CMD [ARG...]",
		Short: "Run a command only while a claim is still ours",
		Long: `Guard checks the claim, starts CMD if it is ours, and keeps it renewed while CMD
runs. If the claim is lost, CMD's process group is killed at once. If it cannot
be found out, CMD goes on for as long as the claim is known to be ours, and is
ended before that time is over. Ctrl-Z stops both; when they go on, the claim is
asked for first.

Exit codes:
  CMD's own  it ran and ended so (128+n for signal n)
  64   the command line is wrong, or claim or token are missing
  69   unknown: it could not be asked whether the claim is still ours
  77   not allowed
  78   bad configuration
  81   lost: CMD was not started, or was killed
  126  CMD cannot be run
  127  CMD was not found`,
		RunE: func(cmd *cobra.Command, args []string) error {
			before, argv, err := c.split(cmd, args)
			if err != nil {
				return err
			}
			if len(before) > 0 {
				return c.usagef(cmd, "it takes no arguments before --")
			}
			o, err := c.owner(cmd, key)
			if err != nil {
				return err
			}
			return c.doGuard(cmd.Context(), o, argv)
		},
	}
	key.add(cmd)
	return cmd
}

func (c *cli) doGuard(ctx context.Context, o *owner, argv []string) error {
	clk, err := clock.System()
	if err != nil {
		return fmt.Errorf("%w: the clock: %w", slot.ErrUnknown, err)
	}
	g := &guard{o: o, clk: clk, answers: make(chan answer, 1)}
	if err := g.begin(ctx); err != nil {
		return err
	}
	return g.run(ctx, c, argv)
}

// begin finds out whether the claim is ours, and how long. Renewing comes first:
// one that is overdue is ours again if nobody took it since.
func (g *guard) begin(ctx context.Context) error {
	sent := g.clk.Boot()
	left, err := g.o.renew(ctx)
	if errors.Is(err, slot.ErrUnknown) {
		var s standing
		sent = g.clk.Boot()
		s, err = g.o.check(ctx)
		left = s.left
	}
	if err == nil {
		g.granted(sent, left)
	}
	return err
}

// lookEvery is how often the guard looks whether the claim was taken away,
// however long it has still to live.
const lookEvery = time.Second

// answer is that to one question, sent at boot time sent.
type answer struct {
	renewal bool
	sent    time.Duration
	left    time.Duration
	err     error
}

// guard keeps one claim renewed beside one command. Its times are boot time.
type guard struct {
	o       *owner
	clk     clock.Clock
	answers chan answer
	asking  bool

	sent     time.Duration // of the question that was last granted
	left     time.Duration // as last granted
	deadline time.Duration
	renewAt  time.Duration
	lookAt   time.Duration
	fate     error // why the command is being ended
}

func (g *guard) granted(sent, left time.Duration) {
	g.sent = sent
	g.left, g.deadline, g.renewAt = left, sent+left, sent+left/3
	g.lookAt = sent + lookEvery
}

// grace is the time between TERM and KILL before an unknown deadline.
func (g *guard) grace() time.Duration { return min(slot.DefaultGrace, g.left/3) }

func (g *guard) run(ctx context.Context, c *cli, argv []string) error {
	// The kernel ties the child's death to the thread that forked it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = c.In, c.Out, c.Err, c.Environ()
	front := ownGroup(cmd, c.In)
	sigs := make(chan os.Signal, 8)
	for _, s := range front.signals() {
		if !signal.Ignored(s) {
			signal.Notify(sigs, s)
		}
	}
	defer signal.Stop(sigs)
	if err := cmd.Start(); err != nil {
		return c.notStarted(argv[0], err)
	}
	front.started(cmd.Process.Pid)
	defer front.take()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over := make(chan struct{})
	defer close(over)
	stops := stopsOf(cmd.Process.Pid, over)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case err := <-ended:
			return g.ending(cmd, err)
		case s := <-sigs:
			switch s {
			case syscall.SIGCONT:
				front.give()
			case syscall.SIGTSTP: // the command would go on without us
			default:
				kill(cmd, s.(syscall.Signal))
			}
		case <-stops:
			g.stopped(ctx, cmd, front)
		case a := <-g.answers:
			g.heard(cmd, a)
		case <-timer.C:
		}
		timer.Reset(g.step(ctx, cmd))
	}
}

// step does what is due, and says when to look again: often enough to notice
// that the machine slept.
func (g *guard) step(ctx context.Context, cmd *exec.Cmd) time.Duration {
	now := g.clk.Boot()
	if !g.asking && now >= min(g.renewAt, g.lookAt) && !errors.Is(g.fate, slot.ErrLost) {
		g.asking = true
		go g.ask(ctx, now, now >= g.renewAt)
	}
	switch {
	case now >= g.deadline:
		g.giveUp()
		kill(cmd, syscall.SIGKILL)
	case now >= g.deadline-g.grace() && g.fate == nil:
		g.giveUp()
		kill(cmd, syscall.SIGTERM)
	}
	return min(max(g.left/20, 20*time.Millisecond), time.Second)
}

func (g *guard) ask(ctx context.Context, now time.Duration, renewal bool) {
	a := answer{renewal: renewal, sent: now}
	if renewal {
		a.left, a.err = g.o.renew(ctx)
	} else {
		_, a.err = g.o.check(ctx)
	}
	g.answers <- a
}

// giveUp ends the command because nothing is known of its claim.
func (g *guard) giveUp() {
	if g.fate == nil {
		g.fate = fmt.Errorf("%w: the claim could not be renewed in time, so the command was ended", slot.ErrUnknown)
	}
}

func (g *guard) heard(cmd *exec.Cmd, a answer) {
	g.asking = false
	if a.sent < g.sent {
		return // we were stopped since, and know better
	}
	switch {
	case a.err == nil && a.renewal:
		g.granted(a.sent, a.left)
	case a.err == nil:
		g.lookAt = a.sent + lookEvery
	case errors.Is(a.err, slot.ErrLost):
		g.fate = a.err
		kill(cmd, syscall.SIGKILL)
	default: // not known: ask again soon
		g.lookAt = g.clk.Boot() + lookEvery
		g.renewAt = g.clk.Boot() + min(max(g.left/10, 50*time.Millisecond), 5*time.Second)
	}
}

// ending is what the verb returns for the end of the command.
func (g *guard) ending(cmd *exec.Cmd, err error) error {
	if g.fate != nil {
		kill(cmd, syscall.SIGKILL) // what it left in its group
		return g.fate
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("the command's end: %w", err)
	}
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok || ws.ExitStatus() == 0:
		return nil
	case ws.Signaled():
		return &exitError{128 + int(ws.Signal())}
	}
	return &exitError{ws.ExitStatus()}
}

// kill signals the command's group. It may be gone by now.
func kill(cmd *exec.Cmd, s syscall.Signal) {
	syscall.Kill(-cmd.Process.Pid, s) //nolint:errcheck // see above
}

// notStarted says why there is no command, in a shell's exit codes.
func (c *cli) notStarted(name string, err error) error {
	code := 126
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		code = 127
	}
	c.printf(c.Err, "oneslot: the command was not started: %s: %v\n", clean(name), err)
	return &exitError{code}
}
