package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"github.com/oneslot/oneslot/internal/slot"
)

// exitBusy is the exit code of a command that says "not now": EX_TEMPFAIL, as that
// of oneslot itself.
const exitBusy = 75

// Command is any program that knows better.
type Command struct {
	// Run is its argument list, with placeholders. No shell sees it.
	Run []string
	// Dir is its working folder; empty: ours.
	Dir string
	// Env is its whole environment: the caller leaves out what is secret. The ref
	// is added as ONESLOT_REF and ONESLOT_SLUG, the head commit as ONESLOT_SHA.
	Env []string
}

type command struct{ Command }

// NewCommand is the gate "command": exit 0 is free, 75 busy, and anything else means
// that it could not be found out. The first line of its output is the evidence.
// Errors match slot.ErrUsage.
func NewCommand(c Command) (Gate, error) {
	if len(c.Run) == 0 || c.Run[0] == "" {
		return nil, fmt.Errorf("%w: run names no command", slot.ErrUsage)
	}
	for _, arg := range c.Run {
		if err := slot.CheckExpand(arg); err != nil {
			return nil, fmt.Errorf("run: %w", err)
		}
	}
	return command{c}, nil
}

func (command) Type() string { return "command" }

func (g command) Ask(ctx context.Context, a Ask) Answer {
	argv := make([]string, len(g.Run))
	for i, arg := range g.Run {
		var err error
		if argv[i], err = slot.Expand(arg, a.Ref, a.Sha); err != nil {
			return cannotName("command", err)
		}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = g.Dir
	cmd.Env = append(append([]string{}, g.Env...),
		"ONESLOT_REF="+a.Ref.String(), "ONESLOT_SLUG="+a.Ref.Slug(), "ONESLOT_SHA="+a.Sha)
	out := &head{}
	cmd.Stdout, cmd.Stderr = out, out
	// Its own group, so that its children end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = manners / 2
	if err := cmd.Start(); err != nil {
		return unknown("command", err.Error())
	}
	endGroup(cmd.Process.Pid)
	err := cmd.Wait()
	said := out.line()
	switch exit, ok := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return unknown("command", "no answer in time"+after(": ", said))
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		return proceed("command", "free", said)
	case ok && exit.ExitCode() == exitBusy:
		return deferral("command", "busy", said)
	default:
		return unknown("command", fmt.Sprintf("%s: %v%s", argv[0], err, after(": ", said)))
	}
}

// head keeps the beginning of an output, and takes all of it.
type head struct{ text bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.text.Write(p[:min(len(p), detailMax-min(h.text.Len(), detailMax))])
	return len(p), nil
}

func (h *head) line() string {
	line, _, _ := strings.Cut(strings.TrimSpace(h.text.String()), "\n")
	return clip(line)
}
