package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
)

// versionView is what this program is.
type versionView struct {
	Version  string  `json:"version"`
	Revision *string `json:"revision"`
	Modified bool    `json:"modified"` // built from a tree with changes of its own
	Go       string  `json:"go"`
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	Schema   int     `json:"schema"`
}

func (c *cli) versionVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which oneslot this is",
		Long: `Version prints the version, the revision it was built from if that is known, and
the level of the store's schema that it reads and writes. It reads nothing.

Exit codes:
  0    it is printed
  64   wrong usage
  74   it could not be printed`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			if asJSON {
				return printJSON(c.Out, v)
			}
			c.printf(c.Out, "%s\n", v)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func version() versionView {
	v := versionView{
		Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: app.SchemaLevel(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = text(s.Value)
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v versionView) String() string {
	s := "oneslot " + v.Version
	if v.Revision != nil {
		s += " (" + *v.Revision
		if v.Modified {
			s += ", changed"
		}
		s += ")"
	}
	return fmt.Sprintf("%s %s %s/%s schema %d", s, v.Go, v.OS, v.Arch, v.Schema)
}
