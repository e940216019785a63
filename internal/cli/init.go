package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) initVerb() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [--force] [FILE]",
		Short: "Write a configuration file to begin with",
		Long: `Init writes a configuration file in which everything is a comment that tells what
can be set and what holds without it. FILE is by default where the other verbs look
for it: --config, ONESLOT_CONFIG, else $XDG_CONFIG_HOME/oneslot/oneslot.toml.

A file that is there already is left alone without --force.

Exit codes:
  0    written
  64   wrong usage, or the file is there already
  69   it could not be written`,
		Args: c.atMost(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.initFile(args)
			if err != nil {
				return c.usage(cmd, err)
			}
			err = writeNew(path, initText, force)
			switch {
			case errors.Is(err, fs.ErrExist):
				return fmt.Errorf("%w: %s is there already; --force replaces it", slot.ErrUsage, clean(path))
			case err != nil:
				return fmt.Errorf("%w: %s could not be written: %w", slot.ErrUnknown, clean(path), err)
			}
			c.printf(c.Out, "%s\n", clean(path))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func (c *cli) initFile(args []string) (string, error) {
	switch {
	case len(args) > 0 && args[0] == "":
		return "", errors.New("the file has no name")
	case len(args) > 0:
		return filepath.Abs(args[0])
	}
	src := c.Config
	src.ConfigFlag = c.config
	return src.DefaultFile()
}

// writeNew puts a whole file in its place in one step, or nothing. Without replace it
// never takes the place of another: the error then matches fs.ErrExist.
func writeNew(path, text string, replace bool) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".oneslot-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(f.Name(), path)
	}
	return os.Link(f.Name(), path)
}
