package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// World is what a verb may touch of the world around it.
type World struct {
	In, Out, Err *os.File
	Config       config.Sources
	Environ      func() []string
}

// System is the world of this process.
func System() World {
	return World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Config: config.System(), Environ: os.Environ}
}

// cli is one invocation.
type cli struct {
	World
	config string // --config
	store  string // --store
	asked  string // the store that is asked
	unsaid error  // why a line could not be printed
}

// Main runs one verb and returns the exit code.
func Main(args []string, w World) int {
	c := &cli{World: w}
	root := c.root()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		err = c.unsaid
	}
	c.tell(err)
	return exitCode(err)
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "oneslot",
		Short:         "Many dispatchers, one slot: exactly one worker per issue or pull request",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return c.usage(cmd, fmt.Errorf("there is no verb %q", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return c.usage(cmd, flagError(err)) })
	root.PersistentFlags().StringVar(&c.config, "config", "", "configuration `FILE`")
	root.PersistentFlags().StringVar(&c.store, "store", "", "store `ADDRESS`, such as sqlite:/var/lib/oneslot/oneslot.db")
	c.addVerbs(root)
	rootHelp(root)
	return root
}

// usage marks an error as the caller's mistake in words.
func (c *cli) usage(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w: %v; see `%s --help`", slot.ErrUsage, err, cmd.CommandPath())
}

// sources is where the configuration of this command comes from.
func (c *cli) sources(cmd *cobra.Command) config.Sources {
	src := c.Config
	src.ConfigFlag = c.config
	src.Flags = map[string]string{}
	for _, key := range []string{"store", "listen", "waiting_max", "reservation.recheck"} {
		_, name, table := strings.Cut(key, ".")
		if !table {
			name = key
		}
		if f := cmd.Flags().Lookup(strings.ReplaceAll(name, "_", "-")); f != nil && f.Changed {
			src.Flags[key] = f.Value.String()
		}
	}
	return src
}

// load reads the configuration for a verb that goes by all of it.
func (c *cli) load(cmd *cobra.Command) (*config.Config, error) { return c.loadFor(cmd, config.Whole) }

// loadFor reads the configuration for a verb's need.
func (c *cli) loadFor(cmd *cobra.Command, need config.Need) (*config.Config, error) {
	cfg, err := config.LoadFor(c.sources(cmd), need)
	var bad *config.Problems
	if need != config.Whole && errors.As(err, &bad) && bad.InFile() {
		return nil, fmt.Errorf("%w\n`oneslot --config %s %s` goes without the file; add `--store ADDRESS` if it names one", err, os.DevNull, cmd.Name())
	}
	if err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintln(c.Err, "oneslot: warning:", w)
	}
	return cfg, nil
}

// open gives the configured oneslot to a verb that starts nothing.
func (c *cli) open(cmd *cobra.Command) (*app.App, error) { return c.openNeeding(cmd, config.Refs) }

func (c *cli) openNeeding(cmd *cobra.Command, need config.Need) (*app.App, error) {
	cfg, err := c.loadFor(cmd, need)
	if err != nil {
		return nil, err
	}
	return c.app(cfg)
}

// app is the oneslot of a configuration. It is not closed: the process is about to
// exit, every answer is on disk, and closing the last handle would cost a
// checkpoint that nobody waits for.
func (c *cli) app(cfg *config.Config) (*app.App, error) {
	a, err := app.New(cfg)
	if err == nil {
		c.asked = a.Store.Address()
	}
	return a, err
}

// ref reads a ref argument.
func (c *cli) ref(ctx context.Context, a *app.App, s string) (slot.Ref, error) {
	return a.Ref(ctx, s)
}

// openFor is open and ref in one, for verbs about one ref that start nothing.
func (c *cli) openFor(cmd *cobra.Command, s string) (*app.App, slot.Ref, error) {
	a, err := c.open(cmd)
	if err != nil {
		return nil, slot.Ref{}, err
	}
	ref, err := c.ref(cmd.Context(), a, s)
	return a, ref, err
}

// tell prints an error for people, once.
func (c *cli) tell(err error) {
	var own *exitError
	switch {
	case err == nil, errors.As(err, &own):
	case slot.IsRefusal(err):
		explain(c.Err, err, inquiry{c.asked, started}, time.Now())
	default:
		fmt.Fprintf(c.Err, "oneslot: %v\n", err)
	}
}

// printf prints. What cannot be printed on standard output makes a verb that went well
// fail at its end.
func (c *cli) printf(w io.Writer, format string, a ...any) {
	if _, err := fmt.Fprintf(w, format, a...); err != nil && w == c.Out && c.unsaid == nil {
		c.unsaid = printed(err)
	}
}
