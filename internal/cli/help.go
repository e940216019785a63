package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// exits are the exit codes of all verbs, in few words.
var exits = [][2]string{
	{"0", "done"},
	{"64", "usage: the command line is wrong, or not a ref"},
	{"69", "unknown: the store, a forge or a gate could not be asked; nothing was started"},
	{"70", "a fault in oneslot itself"},
	{"74", "output could not be passed on"},
	{"75", "busy: the slot is held, on hold, or a gate says not now"},
	{"77", "not allowed"},
	{"78", "bad configuration"},
	{"80", "nothing to do: the work is over (closed, landed, ...)"},
	{"81", "lost: the claim is not, or not any more, ours"},
	{"124", "--timeout passed"},
	{"126", "the command cannot be run"},
	{"127", "the command was not found"},
	{"130", "Ctrl-C (129 hang-up, 143 terminated)"},
}

// variables are what is read of the environment.
var variables = [][2]string{
	{"ONESLOT_CONFIG", "the configuration file, as --config"},
	{"ONESLOT_STORE", "the store, as --store"},
	{"ONESLOT_LISTEN", "where the daemon serves, as serve --listen"},
	{"ONESLOT_HOST", "the name of this host that people are shown"},
	{"ONESLOT_RECHECK", "the wait of reservation comments, as run --recheck"},
	{"ONESLOT_API_TOKEN", "what is shown to a daemon's API"},
	{"ONESLOT_CLAIM", "the claim that renew, check, release and guard act on"},
	{"ONESLOT_TOKEN", "and its token"},
	{"NO_COLOR", "set: no colours"},
}

// rootHelp adds to the help of the program what all verbs have in common.
func rootHelp(root *cobra.Command) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		plain(cmd, args)
		if cmd != root {
			return
		}
		w := cmd.OutOrStdout()
		helpTable(w, "Exit codes, beside those of the command that was run", exits)
		helpTable(w, "Environment", variables)
	})
}

func helpTable(w io.Writer, title string, rows [][2]string) {
	fmt.Fprintf(w, "\n%s:\n", title)
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, r[:])
	}
	table(w, "  ", cells) //nolint:errcheck // as the rest of the help
}
