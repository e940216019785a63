package cli

import "github.com/spf13/cobra"

// verbs lists all verbs, in the order of the help.
func (c *cli) verbs() []*cobra.Command {
	return []*cobra.Command{
		c.runVerb(),
		c.peekVerb(),
		c.claimVerb(),
		c.renewVerb(),
		c.checkVerb(),
		c.releaseVerb(),
		c.guardVerb(),
		c.onceVerb(),
		c.serveVerb(),
		c.dispatchVerb(),
		c.retryVerb(),
		c.deadVerb(),
		c.statusVerb(),
		c.whyVerb(),
		c.logVerb(),
		c.runsVerb(),
		c.holdVerb(),
		c.unholdVerb(),
		c.stopVerb(),
		c.takeoverVerb(),
		c.doctorVerb(),
		c.initVerb(),
		c.rulesVerb(),
		c.configVerb(),
		c.completionVerb(),
		c.versionVerb(),
		c.wardenVerb(),
		c.manVerb(),
		c.superviseVerb(),
		c.holdUnitVerb(),
	}
}
