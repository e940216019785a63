package supervise

import (
	"os"
	"syscall"

	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// What oneslot exits with when it is not the command's own code.
const (
	exitUnknown   = 69
	exitOutput    = 74 // the worker's output could not be passed on
	exitBusy      = 75 // also a worker's word for "later"
	exitLost      = 81
	exitTimeout   = 124
	exitCannotRun = 126
	exitNotFound  = 127
)

// exitOf reads a wait status: the exit code, or the name of the signal.
func exitOf(ws syscall.WaitStatus) (code *int, signal string) {
	if ws.Signaled() {
		return nil, signalName(ws.Signal())
	}
	n := ws.ExitStatus()
	return &n, ""
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// codeOf is what a shell would report for the status.
func codeOf(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// stopBySignal is the ending that goes with a signal sent to us.
func stopBySignal(sig os.Signal) ending {
	e := ending{result: slot.Stopped, reason: "the supervisor was told to end"}
	if s, ok := sig.(syscall.Signal); ok {
		e.code, e.reason = 128+int(s), "the supervisor got "+signalName(s)
	}
	return e
}
