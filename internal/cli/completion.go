package cli

import "github.com/spf13/cobra"

func (c *cli) completionVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a shell's completion script",
		Long: `Completion prints the script that has a shell complete verbs and flags:

  bash   source <(oneslot completion bash)
  zsh    oneslot completion zsh > "${fpath[1]}/_oneslot"
  fish   oneslot completion fish > ~/.config/fish/completions/oneslot.fish

Exit codes:
  0    printed
  64   not a shell that is known`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args:      c.exactly(1, "one of bash, zsh, fish"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.Out, true)
			case "zsh":
				return root.GenZshCompletion(c.Out)
			case "fish":
				return root.GenFishCompletion(c.Out, true)
			}
			return c.usagef(cmd, "%q is none of bash, zsh, fish", args[0])
		},
	}
}
