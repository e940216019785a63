package cli

import (
	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/doctor"
)

// entryView is one setting.
type entryView struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func (c *cli) configVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show or check the configuration",
		Long: `Config shows the settings in force and where each came from, or checks them.

Exit codes:
  0    well
  64   wrong usage
  78   bad configuration: all that is wrong is named, with file, line and column`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.usagef(cmd, "say `config show` or `config check`")
		},
	}
	cmd.AddCommand(c.configShowVerb(), c.configCheckVerb())
	return cmd
}

func (c *cli) configShowVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show each setting and where it came from",
		Long: `Show prints every setting, its value and where that came from: the default, a
file with its line, an environment variable or a flag. Secrets are never shown.

Exit codes:
  0    shown
  64   wrong usage
  78   bad configuration: all that is wrong is named`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			return c.showConfig(cfg, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

func (c *cli) showConfig(cfg *config.Config, asJSON bool) error {
	if asJSON {
		return printJSON(c.Out, entryViews(cfg))
	}
	rows := [][]string{{"KEY", "VALUE", "FROM"}}
	for _, e := range cfg.Entries() {
		rows = append(rows, []string{clean(e.Key), clean(e.Value), clean(e.Origin.String())})
	}
	return table(c.Out, "", rows)
}

func entryViews(cfg *config.Config) []entryView {
	list := []entryView{}
	for _, e := range cfg.Entries() {
		list = append(list, entryView{e.Key, e.Value, e.Origin.String()})
	}
	return list
}

func (c *cli) configCheckVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the configuration",
		Long: `Check reads the configuration, and every secret that it names, and looks for the
programs that it starts. It says what is wrong or odd, all at once. Secrets are never
shown. A secret in the environment, or a program in PATH, is looked for in the
environment of this command.

Exit codes:
  0    well
  64   wrong usage
  78   bad configuration: all that is wrong is named`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			warnings, err := app.Check(cfg)
			missing, _ := doctor.Programs(cfg, c.getenv("PATH"))
			for _, w := range append(warnings, missing...) {
				c.printf(c.Err, "oneslot: warning: %s\n", clean(w))
			}
			if err != nil {
				return err
			}
			if cfg.File == "" {
				c.printf(c.Out, "no configuration file; defaults and environment are well\n")
			} else {
				c.printf(c.Out, "%s is well\n", clean(cfg.File))
			}
			return nil
		},
	}
}
