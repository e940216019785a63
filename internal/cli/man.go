package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manVerb prints the manual page, for packagers. It says what --help says.
func (c *cli) manVerb() *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the manual page oneslot(1)",
		Long:   "Man prints the manual page oneslot(1) in roff, for packages and `man -l`.\n\nExit codes:\n  0    printed\n  64   wrong usage",
		Hidden: true,
		Args:   c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := c.Out.Write(manual(cmd.Root()))
			return printed(err)
		},
	}
}

// manual is the manual page of a program with its verbs.
func manual(root *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH ONESLOT 1\n.SH NAME\noneslot \\- %s\n", roff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B oneslot\n.I verb\n[arguments]\n.SH VERBS\n")
	for _, v := range root.Commands() {
		if v.Hidden || v.Name() == "help" {
			continue
		}
		manVerb(&b, v)
		for _, sub := range v.Commands() {
			manVerb(&b, sub)
		}
	}
	fmt.Fprintf(&b, ".SH GLOBAL FLAGS\n")
	manFlags(&b, root.PersistentFlags())
	manTable(&b, "EXIT STATUS", exits)
	manTable(&b, "ENVIRONMENT", variables)
	fmt.Fprintf(&b, ".SH FILES\n.TP\n$XDG_CONFIG_HOME/oneslot/oneslot.toml, /etc/oneslot/oneslot.toml\nthe configuration; the first one that is there counts\n"+
		".TP\n$XDG_STATE_HOME/oneslot/oneslot.db\nthe store, unless another is configured\n")
	return b.Bytes()
}

func manTable(b *bytes.Buffer, title string, rows [][2]string) {
	fmt.Fprintf(b, ".SH %s\n", title)
	for _, r := range rows {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(r[0]), roff(r[1]))
	}
}

func manVerb(b *bytes.Buffer, v *cobra.Command) {
	fmt.Fprintf(b, ".SS oneslot %s\n", roff(strings.TrimPrefix(v.UseLine(), "oneslot ")))
	text := v.Long
	if text == "" {
		text = v.Short
	}
	for i, part := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.Contains(part, "\n  ") { // a list, as it stands
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(part))
			continue
		}
		fmt.Fprintln(b, roff(part))
	}
	manFlags(b, v.LocalNonPersistentFlags())
}

func manFlags(b *bytes.Buffer, set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		line := "--" + f.Name
		if f.Shorthand != "" {
			line = "-" + f.Shorthand + ", " + line
		}
		if name != "" {
			line += " " + name
		}
		// As --help has it: what is zero goes without saying.
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" {
			usage += " (default " + d + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(line), roff(usage))
	})
}

// roff writes text so that no character of it is a command.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
