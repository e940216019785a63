package cli

import (
	"context"
	"errors"
	"os/exec"
	"syscall"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// stopped is called when the command was stopped. At a terminal we stop with it,
// or the shell would wait for ever, and nobody could use the terminal. Anywhere
// else its claim is kept renewed, and whoever stopped it continues it.
func (g *guard) stopped(ctx context.Context, cmd *exec.Cmd, front *terminal) {
	if front.fd < 0 || !isStopped(cmd) || g.fate != nil {
		return
	}
	if front.give() { // it came to the back with `bg`, and asks for the terminal
		kill(cmd, syscall.SIGCONT)
		return
	}
	front.take()
	stopUs()
	g.goOn(ctx, cmd, front)
}

// goOn continues the command after any time, if the claim is still ours.
func (g *guard) goOn(ctx context.Context, cmd *exec.Cmd, front *terminal) {
	switch err := g.begin(ctx); {
	case errors.Is(err, slot.ErrLost):
		g.fate = err
	case err != nil && g.clk.Boot() >= g.deadline:
		g.giveUp()
	}
	if g.fate != nil {
		kill(cmd, syscall.SIGKILL)
		return
	}
	front.give()
	kill(cmd, syscall.SIGCONT)
}

// isStopped reports whether the command is stopped at this moment.
func isStopped(cmd *exec.Cmd) bool {
	p, err := proc.Identify(cmd.Process.Pid)
	return err == nil && proc.Look(p).Stopped
}
