package measure

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/proc"
)

// HelperVerb is the first argument of a helper process.
const HelperVerb = "helper"

// Helper is the main function of a helper process; args are what follows the
// verb.
func Helper(ctx context.Context, args []string) error {
	b := &Bench{}
	var err error
	if b.clock, err = clock.System(); err != nil {
		return err
	}
	if b.process, err = proc.Self(); err != nil {
		return err
	}
	parts := map[string]func(context.Context, *Bench, []string) error{
		"pairs": pairsHelper, "wait": waitHelper, "worker": workerHelper, "stamp": stampHelper,
		"bare": bareHelper, "forge": forgeHelper, "poller": pollerHelper, "asker": askerHelper,
	}
	part, ok := parts[args[0]]
	if !ok {
		return fmt.Errorf("there is no helper %q", args[0])
	}
	return part(ctx, b, args[1:])
}

// workerHelper works until it is ended, with "stubborn" until it is killed, but
// no longer than half a minute. It says its pid first.
func workerHelper(_ context.Context, _ *Bench, args []string) error {
	signal.Reset(syscall.SIGTERM)
	if args[0] == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Println(os.Getpid())
	time.Sleep(30 * time.Second)
	return nil
}

// stampHelper says what time it is, in ns since the boot, and whether a process
// of this boot still lives.
func stampHelper(_ context.Context, b *Bench, args []string) error {
	now, p := b.clock.Boot(), b.process
	if _, err := fmt.Sscan(args[0]+" "+args[1], &p.PID, &p.Ticks); err != nil {
		return err
	}
	fmt.Println(int64(now), proc.Look(p).Life)
	return nil
}
