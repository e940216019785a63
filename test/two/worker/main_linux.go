// Command worker is the worker of both sides: SIDE NUMBER SHA JOURNAL WORK. It works
// for that long, or until it is told to end, and writes down when it did. It is a
// program of its own so that little comes before its first instruction, and so that
// it runs in a container that has nothing else.
package main

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	at := boot() // the first instruction
	if err := work(at, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(2)
	}
}

func work(began time.Duration, args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("SIDE NUMBER SHA JOURNAL WORK, not %q", args)
	}
	long, err := time.ParseDuration(args[4])
	if err != nil {
		return err
	}
	f, err := os.OpenFile(args[3], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGTERM)
	note := func(event string, at time.Duration) error {
		_, err := fmt.Fprintf(f, "%d %s %s %s %s %d %s %s\n", at, event, args[0], args[1], args[2], os.Getpid(),
			cmp.Or(os.Getenv("ONESLOT_RUN"), "-"), cmp.Or(os.Getenv("ONESLOT_ATTEMPT"), "-"))
		return err
	}
	if err := note("start", began); err != nil {
		return err
	}
	select {
	case <-time.After(long):
	case <-told:
	}
	return note("end", boot())
}

// boot is the time since the machine was started: the same clock in all processes,
// and in containers.
func boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
