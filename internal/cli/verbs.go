package cli

import "github.com/spf13/cobra"

// verbGroup is a part of the help's list of verbs.
type verbGroup struct {
	title string
	verbs []*cobra.Command
}

// groups lists the verbs for people, in the order of the help.
func (c *cli) groups() []verbGroup {
	return []verbGroup{
		{"Work under a slot", []*cobra.Command{
			c.runVerb(), c.claimVerb(), c.renewVerb(), c.checkVerb(), c.releaseVerb(), c.guardVerb(), c.onceVerb(),
		}},
		{"Look", []*cobra.Command{c.peekVerb(), c.statusVerb(), c.whyVerb(), c.runsVerb(), c.logVerb(), c.deadVerb()}},
		{"Steer", []*cobra.Command{c.holdVerb(), c.unholdVerb(), c.stopVerb(), c.takeoverVerb(), c.retryVerb(), c.dropVerb()}},
		{"Daemon and queue", []*cobra.Command{c.serveVerb(), c.dispatchVerb(), c.rulesVerb()}},
		{"Set up", []*cobra.Command{c.initVerb(), c.configVerb(), c.doctorVerb(), c.completionVerb(), c.versionVerb()}},
	}
}

// addVerbs gives the root its verbs, those that nobody is to call by hand as well.
func (c *cli) addVerbs(root *cobra.Command) {
	cobra.EnableCommandSorting = false // the order is that of groups
	for _, g := range c.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, v := range g.verbs {
			v.GroupID = g.title
			root.AddCommand(v)
		}
	}
	root.SetHelpCommandGroupID("Set up")
	root.AddCommand(c.wardenVerb(), c.manVerb(), c.superviseVerb(), c.holdUnitVerb())
}
