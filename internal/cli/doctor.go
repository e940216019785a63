package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/doctor"
)

// lineView is one line of doctor.
type lineView struct {
	Check   string  `json:"check"`
	Finding *string `json:"finding"` // null if all is well
	Status  string  `json:"status"`  // ok, warn or fail
	What    string  `json:"what"`
	Do      *string `json:"do"`
}

func (c *cli) doctorVerb() *cobra.Command {
	var asJSON, logs bool
	var bundle string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that oneslot stands on",
		Long: `Doctor looks at the configuration, the store, the disk, the clock, the kernel, the
claims and the runs; and at the daemon, its secrets, gates and queue, and the
programs that its rules start. Each line says ok, warn or FAIL, what was seen, and
what to do. It takes no claim and mends nothing; it commits one write that leaves
nothing behind, if there is a store.

--bundle writes all of it to a new file, with the configuration, the state and the
last decisions, for somebody who cannot look here. Secrets are taken out.

Exit codes:
  0    no line says FAIL
  64   wrong usage
  69   a line says FAIL: claims cannot be given, or not be relied on
  74   the bundle could not be written
  77   the store is somebody else's
  78   bad configuration`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if logs && bundle == "" {
				return c.usagef(cmd, "--with-logs goes with --bundle")
			}
			cfg, err := c.load(cmd)
			s := c.subject(cfg, err)
			lines := doctor.Examine(cmd.Context(), s)
			if bundle != "" {
				if err := c.bundle(cmd, bundle, logs, cfg, s, lines); err != nil {
					return err
				}
			}
			if err := c.showLines(lines, asJSON); err != nil {
				return err
			}
			return doctorError(lines)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	cmd.Flags().StringVar(&bundle, "bundle", "", "also write a bundle for somebody who helps to `FILE`, as in oneslot.tar.gz")
	cmd.Flags().BoolVar(&logs, "with-logs", false, "with the ends of the last workers' logs in the bundle")
	return cmd
}

// subject is this process's world. err is why there is no configuration.
func (c *cli) subject(cfg *config.Config, err error) *doctor.Subject {
	p := app.PartsOf(cfg)
	s := &doctor.Subject{
		Config: cfg, ConfigErr: err, Clock: p.Clock, ClockErr: p.ClockErr, Store: p.Store, StoreErr: p.StoreErr,
		Sight: app.Sight{}, Machine: doctor.System(), Level: app.SchemaLevel(), Env: c.Config.Env,
		TempDir: os.TempDir(), UID: os.Getuid(), Limits: doctor.DefaultLimits(),
	}
	if cfg == nil {
		return s
	}
	if p.Queue != nil {
		s.Queue = p.Queue
		s.Daemon = (&app.App{Config: cfg}).Daemon
	}
	s.Greet = func(ctx context.Context, f config.Forge) (string, error) { return app.Greet(ctx, cfg, f) }
	s.Peek = func(ctx context.Context, g config.Gate) error { return app.Peek(ctx, cfg, g) }
	return s
}

func lineViews(lines []doctor.Line) []lineView {
	list := []lineView{}
	for _, l := range lines {
		status := string(l.Status)
		if l.Status == doctor.Fail {
			status = "fail"
		}
		list = append(list, lineView{l.Check, text(l.Finding), status, l.What, text(l.Do)})
	}
	return list
}

func (c *cli) showLines(lines []doctor.Line, asJSON bool) error {
	if asJSON {
		return printJSON(c.Out, lineViews(lines))
	}
	colours := map[doctor.Status]string{doctor.OK: green, doctor.Warn: yellow, doctor.Fail: red}
	for _, l := range lines {
		c.printf(c.Out, "%s  %-13s  %s", c.paint(c.Out, colours[l.Status], pad(string(l.Status), 4)), l.Check, clean(l.What))
		if l.Do != "" {
			c.printf(c.Out, " — %s", l.Do)
		}
		c.printf(c.Out, "\n")
	}
	return nil
}
