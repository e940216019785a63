package gate

import (
	"regexp"
	"time"
)

// tools are the markers of other tools, each as its source has it. A job on a hosted
// runner ends after six hours, so that a marker that its job could not edit at its
// end is no older.
func tools() []sign {
	const job = 6 * time.Hour
	return []sign{
		{
			// github.com/anthropics/claude-code-action: src/github/operations/comments/common.ts
			// (the first text), src/create-prompt (the picture while it works),
			// src/github/operations/comment-logic.ts (the heading at its end).
			tool:   "claude-code-action",
			begins: regexp.MustCompile(`^Claude Code is working|<img src="https://github\.com/user-attachments/assets/5ac382c7-e004-429b-8e35-7feb3e8f9c6f"`),
			ends:   regexp.MustCompile(`^\*\*Claude (finished|encountered an error)`),
			edited: true, lasts: job, bots: []string{"claude", "github-actions"},
		},
		{
			// github.com/All-Hands-AI/OpenHands: .github/workflows/openhands-resolver.yml
			tool:   "openhands",
			begins: regexp.MustCompile(`^\[OpenHands\]\(https://github\.com/\S+\) started fixing the `),
			ends: regexp.MustCompile(`^(A potential fix has been generated|An attempt was made to automatically fix this issue|` +
				`The workflow to fix this issue encountered an error)`),
			lasts: job, bots: []string{"openhands-agent", "github-actions"},
		},
		{
			// github.com/kurone-kito/idd-skill: idd-overview-core.instructions.md, "Claim
			// format" and "Thresholds": it ages by the comment, not by its own time.
			tool:   "idd-skill",
			begins: regexp.MustCompile(`^<!-- claimed-by: \S+ (?P<id>\S+) supersedes: \S+ `),
			ends:   regexp.MustCompile(`^<!-- unclaimed-by: \S+ (?P<id>\S+) `),
			lasts:  24 * time.Hour,
		},
		{
			// github.com/marcusquinn/aidevops: .agents/scripts/dispatch-claim-helper.sh; of its
			// leases, "terminal" is the end.
			tool: "aidevops",
			begins: regexp.MustCompile(`(?i)^DISPATCH_(?:CLAIM nonce=|LEASE phase=(?:prelaunch|ready|active)\b)\S*` +
				`(?:.* max_age_s=(?P<seconds>\d+))?(?:.* lease_token=(?P<id>\S+))?(?:.* expires_at=(?P<until>\d+))?`),
			ends:  regexp.MustCompile(`(?i)^(?:CLAIM_RELEASED reason=|DISPATCH_LEASE phase=terminal\b)\S*(?:.* lease_token=(?P<id>\S+))?`),
			lasts: 30 * time.Minute,
		},
		{
			// github.com/hivecommons/hive: the claims package, ClaimComment, TakeoverComment
			// and ReleaseComment.
			tool:   "hive",
			begins: regexp.MustCompile(`^<!-- hive:claim who=(?P<id>\S+) .*\buntil=(?P<until>\S+) -->`),
			ends:   regexp.MustCompile(`^<!-- hive:(?:release who|preempt target)=(?P<id>\S+) `),
			lasts:  24 * time.Hour,
		},
	}
}
