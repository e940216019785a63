package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// span of time as a flag: "90s", "15m", "7d".
type durationFlag struct{ d *time.Duration }

func (f durationFlag) String() string {
	if f.d == nil || *f.d == 0 {
		return ""
	}
	return slot.Span(*f.d)
}

func (f durationFlag) Set(s string) (err error) {
	*f.d, err = config.ParseDuration(s)
	return err
}

func (f durationFlag) Type() string { return "D" }

// durationVar adds a flag for a span of time.
func durationVar(cmd *cobra.Command, d *time.Duration, name string, value time.Duration, usage string) {
	*d = value
	cmd.Flags().Var(durationFlag{d}, name, usage)
}

// flagError says in our own words what is wrong with a number.
func flagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	name := value.GetFlag().Name
	if errors.Is(number, strconv.ErrRange) {
		return fmt.Errorf("--%s %s is out of range", name, clean(value.GetValue()))
	}
	if value.GetFlag().Value.Type() == "bool" {
		return fmt.Errorf("--%s is true or false, not %q", name, value.GetValue())
	}
	return fmt.Errorf("--%s is a whole number, not %q", name, value.GetValue())
}

// usagef is the caller's mistake, in one line.
func (c *cli) usagef(cmd *cobra.Command, format string, args ...any) error {
	return c.usage(cmd, fmt.Errorf(format, args...))
}

// exactly asks for n arguments, named in what.
func (c *cli) exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return c.usagef(cmd, "it takes %s", what)
		}
		return nil
	}
}

// split parts the arguments before "--" from the command after it.
func (c *cli) split(cmd *cobra.Command, args []string) (before, command []string, err error) {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		return nil, nil, c.usagef(cmd, "the command to run comes after --, as in `%s`", cmd.UseLine())
	}
	if before, command = args[:dash], args[dash:]; len(command) == 0 {
		return nil, nil, c.usagef(cmd, "there is no command after --")
	}
	return before, command, nil
}

// splitMaybe is split where a command may be left out.
func (c *cli) splitMaybe(cmd *cobra.Command, args []string) (before, command []string, err error) {
	if cmd.ArgsLenAtDash() < 0 {
		return args, nil, nil
	}
	return c.split(cmd, args)
}

// terms reads time to live and grace: what was not given follows from the other.
func terms(ttl, grace time.Duration, graceGiven bool) (time.Duration, time.Duration, error) {
	if ttl < slot.MinTTL {
		return 0, 0, fmt.Errorf("%w: --ttl %s is too short: at least %s", slot.ErrUsage, slot.Span(ttl), slot.Span(slot.MinTTL))
	}
	if ttl > slot.MaxTTL {
		return 0, 0, fmt.Errorf("%w: --ttl %s is too long: at most %s", slot.ErrUsage, slot.Span(ttl), slot.Span(slot.MaxTTL))
	}
	if !graceGiven {
		grace = min(slot.DefaultGrace, ttl/3)
	}
	if grace > ttl/3 {
		return 0, 0, fmt.Errorf("%w: --grace %s is more than a third of --ttl %s", slot.ErrUsage, slot.Span(grace), slot.Span(ttl))
	}
	return ttl, grace, nil
}

// refs reads the ref arguments: one, or with --any at least one.
func (c *cli) refs(cmd *cobra.Command, words []string, any bool, grammar slot.Grammar) ([]slot.Ref, error) {
	if len(words) == 0 || len(words) > 1 && !any {
		return nil, c.usagef(cmd, "it takes one REF, or --any and a list of them")
	}
	var list []slot.Ref
	for _, w := range words {
		r, err := slot.ParseRef(w, grammar)
		if err != nil {
			return nil, err
		}
		if reserved(r) {
			return nil, c.usagef(cmd, "keys that begin with %q belong to `oneslot once`", oncePrefix)
		}
		list = append(list, r)
	}
	return list, nil
}

// refusing is how a verb tells a refusal.
type refusing struct {
	json  bool
	quiet bool
	exit  int    // the exit code of a refusal; 0 is silent, too
	what  string // what then does not happen: started, claimed; empty for a look
}

// tell says why nothing was started, and gives what the verb returns for it.
func (r refusing) tell(c *cli, ref slot.Ref, err error) error {
	refusal := slot.IsRefusal(err)
	unknown := !refusal && errors.Is(err, slot.ErrUnknown)
	if r.json && (refusal || unknown) {
		if e := printJSON(c.Out, refusalView(ref, err)); e != nil {
			return e
		}
	}
	exit := exitCode(err)
	switch {
	case unknown && exit == exitUnknown && !ref.IsZero():
		explainUnknown(c.Err, ref, err, r.what)
		return &exitError{exit}
	case !refusal:
		return err
	}
	if exit == exitBusy {
		exit = r.exit
	}
	if !r.json && !r.quiet && exit != 0 {
		explain(c.Err, err, inquiry{c.asked, r.what}, time.Now())
	}
	if exit == 0 {
		return nil
	}
	return &exitError{exit}
}

// warnCI tells that claims on a CI runner's own disk exclude nobody.
func warnCI(w io.Writer, cfg *config.Config) {
	if s := cfg.CIWarning(); s != "" {
		fmt.Fprintln(w, "oneslot: warning:", s)
	}
}
