package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/app"
)

type serveOptions struct {
	listen      string
	format      string
	stopWorkers bool
}

func (c *cli) serveVerb() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "The daemon: take wishes, start what is due, repair what is out of order",
		Long: `Serve takes webhooks at /hooks/NAME, the API at /api/v1, and wishes of
` + "`oneslot dispatch`" + `, and starts a worker for each when its slot is free and its
gates let it pass. Each worker has a supervisor of its own, which outlives the
daemon: a restart touches none of them. Workers of API clients need the daemon back
before their claim's time to live is over.

TERM or INT ends it: nothing starts any more, workers go on (--stop-workers
ends them, too). HUP reads the configuration again, as a change of the file does;
one that is wrong is reported and not taken.

Exit codes:
  0    it was told to end
  64   wrong usage
  69   unknown: the store or the address could not be had
  75   the store has a daemon already, whose pid is told
  77   the store is somebody else's
  78   bad configuration`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.format != "text" && o.format != "json" {
				return c.usagef(cmd, "--log is text or json, not %q", o.format)
			}
			return c.serve(cmd, o)
		},
	}
	cmd.Flags().StringVar(&o.listen, "listen", "", "`ADDRESS` to serve, such as 127.0.0.1:7180 or unix:/run/oneslot.sock")
	cmd.Flags().StringVar(&o.format, "log", "text", "form of the log on standard error: `text|json`")
	cmd.Flags().BoolVar(&o.stopWorkers, "stop-workers", false, "at the end, stop the workers too, and wait until they are gone")
	return cmd
}

func (c *cli) serve(cmd *cobra.Command, o serveOptions) error {
	cfg, err := c.load(cmd)
	if err != nil {
		return err
	}
	a, err := app.New(cfg)
	if err != nil {
		return err
	}
	supervisor, err := c.supervisorArgv(a)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, unix.SIGHUP)
	defer signal.Stop(hup)
	return a.Serve(ctx, app.ServeOptions{
		Sources: c.sources(cmd), Supervisor: supervisor, Version: version().Version, Log: logger(c.Err, o.format),
		Reload: asked(ctx, hup), StopWorkers: o.stopWorkers,
	})
}

// logger writes the daemon's log.
func logger(w *os.File, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// asked tells of signals without their names.
func asked(ctx context.Context, sigs <-chan os.Signal) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-sigs:
			}
			select {
			case out <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
