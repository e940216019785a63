package gate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// Comments as the tools write them.
const (
	spinner = `<img src="https://github.com/user-attachments/assets/5ac382c7-e004-429b-8e35-7feb3e8f9c6f" width="14px" height="14px" style="vertical-align: middle; margin-left: 4px;" />`

	claudeStarts = "Claude Code is working… " + spinner + "\n\nI'll analyze this and get back to you.\n\n[View job run](https://github.com/octo/hello/actions/runs/1)"
	claudeNamed  = "<!-- bot: reviewer -->\n" + claudeStarts
	claudeWorks  = "### Making it faster\n\n- [x] Read the code\n- [ ] Fix it\n\n" + spinner + "\n\n[View job run](https://github.com/octo/hello/actions/runs/1)"
	claudeEnds   = "**Claude finished @ann's task in 1m 44s** —— [View job](https://github.com/octo/hello/actions/runs/1)\n\n---\n### Done\n\n" + spinner
	claudeFails  = "**Claude encountered an error after 45s** —— [View job](https://github.com/octo/hello/actions/runs/1)"

	handsStart = "[OpenHands](https://github.com/All-Hands-AI/OpenHands) started fixing the issue! You can monitor the progress [here](https://github.com/octo/hello/actions/runs/2)."
	handsEnd   = "A potential fix has been generated and a draft PR #34 has been created. Please review the changes."

	iddClaim   = "<!-- claimed-by: copilot claim-abc supersedes: none 2026-03-05T09:00:00Z branch: issue/12-make-it-fast -->\n\n_copilot: issue claim — IDD automation marker. Do not edit._"
	iddOther   = "<!-- claimed-by: claude claim-def supersedes: claim-abc 2026-03-05T09:00:00Z branch: issue/12-make-it-fast -->\n\n_claude: issue claim — IDD automation marker. Do not edit._"
	iddRelease = "<!-- unclaimed-by: copilot claim-abc 2026-03-05T10:00:00Z -->\n\n_copilot: issue claim released — IDD automation marker. Do not edit._"

	opsStart   = "<!-- ops:start — workers: skip this comment, it is audit trail not implementation context -->\n"
	devClaim   = opsStart + "DISPATCH_CLAIM nonce=abc123 runner=runner-a ts=2026-03-05T09:00:00Z max_age_s=600 version=3.32.275 opencode_version=1.0.0 lease_token=abc123 device=device-a session=issue-12 phase=prelaunch expires_at=1772712000\n<!-- ops:end -->"
	devPlain   = "DISPATCH_CLAIM nonce=UUID runner=runner-a ts=2026-03-05T09:00:00Z max_age_s=7200"
	devLease   = opsStart + "DISPATCH_LEASE phase=ready lease_token=abc123 device=device-a session=issue-12 expires_at=1772719200 ts=2026-03-05T09:01:00Z attempt_id=attempt:abc123\n<!-- ops:end -->"
	devEnd     = opsStart + "DISPATCH_LEASE phase=terminal lease_token=abc123 device=device-a session=issue-12 expires_at=0\n<!-- ops:end -->"
	devRelease = opsStart + "CLAIM_RELEASED reason=launch_recovery:no_worker_process runner=runner-a ts=2026-03-05T09:05:00Z\n<!-- ops:end -->"

	hiveClaim   = "<!-- hive:claim who=fixer kind=agent hive=north until=2026-03-05T13:00:00Z -->\n🔒 Claimed by agent `fixer` (agent on hive north) until 2026-03-05 13:00 UTC. Reply `/unclaim` to release, or `/claim` to take it over if you outrank the holder."
	hiveTaken   = "<!-- hive:preempt target=fixer target_kind=agent by=ann by_kind=human issue=12 -->\n<!-- hive:claim who=ann kind=human until=2026-03-05T11:30:00Z -->\n🔁 Claim taken over by @ann (human)."
	hiveRelease = "<!-- hive:release who=fixer kind=agent reason=done -->\n🔓 Claim by agent `fixer` released (done)."
)

var (
	ann    = forge.Person{Login: "ann", Association: "member"}
	eve    = forge.Person{Login: "eve", Association: "none"}
	claude = forge.Person{Login: "claude[bot]", Bot: true, Association: "none"}
)

// talk is a conversation in which all was said at 9:00 of the fifth; the forge's clock
// shows the time given, of that day.
func talk(f *fakeForge, now string, by forge.Person, bodies ...string) *fakeForge {
	at, err := time.Parse(time.RFC3339, "2026-03-05T"+now+":00Z")
	if err != nil {
		panic(err)
	}
	said := time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC)
	f.comments = forge.Comments{At: at}
	for i, body := range bodies {
		f.comments.List = append(f.comments.List, forge.Comment{ID: int64(i + 1), Author: by, Body: body, Created: said.Add(-time.Hour), Updated: said})
	}
	return f
}

// The markers of other tools are honoured while they are live.
func TestComment_OtherTools(t *testing.T) {
	for _, c := range []struct {
		name   string
		by     forge.Person
		now    string
		bodies []string
		want   string // the tool in the way; empty: nobody
	}{
		{"nothing", ann, "10:00", nil, ""},
		{"talk", ann, "10:00", []string{"Is Claude Code working?", "I claimed-by: nobody", "hive:claim who=x until=y"}, ""},

		{"claude starts", claude, "10:00", []string{claudeStarts}, "claude-code-action"},
		{"claude by another name", claude, "10:00", []string{claudeNamed}, "claude-code-action"},
		{"claude works", claude, "10:00", []string{claudeWorks}, "claude-code-action"},
		{"claude has ended", claude, "10:00", []string{claudeEnds}, ""},
		{"claude failed", claude, "10:00", []string{claudeFails}, ""},
		{"one of two has ended", claude, "10:00", []string{claudeStarts, claudeEnds}, "claude-code-action"},
		{"claude's job is dead", claude, "15:01", []string{claudeStarts}, ""},
		{"somebody plays claude", eve, "10:00", []string{claudeStarts}, ""},

		{"openhands", forge.Person{Login: "github-actions[bot]", Bot: true}, "10:00", []string{handsStart}, "openhands"},
		{"openhands has ended", ann, "10:00", []string{handsStart, handsEnd}, ""},
		{"openhands again", ann, "10:00", []string{handsStart, handsEnd, handsStart}, "openhands"},

		{"idd", ann, "10:00", []string{iddClaim}, "idd-skill"},
		{"idd released", ann, "10:00", []string{iddClaim, iddRelease}, ""},
		{"idd released another", ann, "10:00", []string{iddOther, iddRelease}, "idd-skill"},
		{"idd by a stranger", eve, "10:00", []string{iddClaim}, ""},

		{"aidevops", ann, "11:59", []string{devClaim}, "aidevops"},
		{"aidevops lapsed", ann, "12:01", []string{devClaim}, ""},
		{"aidevops, by age", ann, "10:59", []string{devPlain}, "aidevops"},
		{"aidevops, too old", ann, "11:01", []string{devPlain}, ""},
		{"aidevops at work", ann, "13:59", []string{devClaim, devLease}, "aidevops"},
		{"aidevops at the end", ann, "10:00", []string{devClaim, devLease, devEnd}, ""},
		{"aidevops released", ann, "10:00", []string{devPlain, devRelease}, ""},
		{"aidevops, a release of nobody's", ann, "10:00", []string{devClaim, devRelease}, "aidevops"},

		{"hive", ann, "10:00", []string{hiveClaim}, "hive"},
		{"hive lapsed", ann, "13:00", []string{hiveClaim}, ""},
		{"hive released", ann, "10:00", []string{hiveClaim, hiveRelease}, ""},
		{"hive taken over", ann, "11:00", []string{hiveClaim, hiveTaken}, "hive"},
		{"hive taken over, lapsed", ann, "12:00", []string{hiveClaim, hiveTaken}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := talk(anIssue(t), c.now, c.by, c.bodies...)
			g := must(t)(gate.NewComment(f, gate.Trust{Associations: []string{"member"}}, nil))
			if c.want == "" {
				verdict(t, decide(t, g), slot.Proceed, "comment: nobody's")
				return
			}
			verdict(t, decide(t, g), slot.Defer, "comment: "+c.want+" | comment ")
		})
	}
}

// C32: what is quoted, or shown as code, claims nothing.
func TestComment_QuotedMarkers(t *testing.T) {
	for _, body := range []string{claudeStarts, claudeWorks, handsStart, iddClaim, devClaim, devPlain, hiveClaim} {
		for name, wrapped := range map[string]string{
			"quote":    "> " + strings.ReplaceAll(body, "\n", "\n> "),
			"fence":    "```\n" + body + "\n```",
			"indented": "look:\n\n    " + strings.ReplaceAll(body, "\n", "\n    "),
			"mail":     "On Monday Ann wrote:\n\n" + body,
			"comment":  "<!--\n" + strings.ReplaceAll(body, "-->", "") + "\n-->",
		} {
			f := talk(anIssue(t), "09:05", ann, wrapped)
			d := decide(t, must(t)(gate.NewComment(f, gate.Trust{Associations: []string{"member"}}, nil)))
			if d.Verdict != slot.Proceed {
				t.Errorf("%s: %.30q: %+v", name, body, d)
			}
		}
	}
}

// Where the forge does not tell who somebody is to the repository, his marker can only
// put off: it takes back nobody else's.
func TestComment_NoAssociation(t *testing.T) {
	bob, mallory, tok := forge.Person{Login: "bob"}, forge.Person{Login: "mallory"}, forge.Person{Login: "project_7_bot", Bot: true}
	for name, c := range map[string]struct {
		by     []forge.Person
		bodies []string
		want   string // words; empty: it goes on
	}{
		"a marker":                     {[]forge.Person{bob}, []string{iddClaim}, "idd-skill | comment 1 by bob (the forge does not tell who that is to the repository), live until "},
		"of a robot":                   {[]forge.Person{tok}, []string{iddClaim}, "by project_7_bot (the forge"},
		"taken back":                   {[]forge.Person{bob, bob}, []string{iddClaim, iddRelease}, ""},
		"taken back by another":        {[]forge.Person{bob, mallory}, []string{iddClaim, iddRelease}, "by bob"},
		"a trusted one's, by another":  {[]forge.Person{ann, mallory}, []string{hiveClaim, hiveRelease}, "comment 1 by ann, live"},
		"taken back by a trusted one":  {[]forge.Person{bob, ann}, []string{iddClaim, iddRelease}, ""},
		"shortened by another":         {[]forge.Person{bob, mallory}, []string{hiveClaim, strings.Replace(hiveClaim, "T13", "T09", 1)}, "comment 1 by bob"},
		"told: he is nobody, no doubt": {[]forge.Person{eve}, []string{iddClaim}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := talk(anIssue(t), "10:00", bob, c.bodies...)
			for i, p := range c.by {
				f.comments.List[i].Author = p
			}
			d := decide(t, must(t)(gate.NewComment(f, gate.Trust{Associations: []string{"member"}}, nil)))
			if c.want == "" {
				verdict(t, d, slot.Proceed, "comment: nobody's")
				return
			}
			verdict(t, d, slot.Defer, c.want)
		})
	}
}

func TestComment_OwnPatterns(t *testing.T) {
	trust := gate.Trust{Logins: []string{"ann"}, Bots: []string{"our-bot"}}
	with := func(f *fakeForge) gate.Gate {
		return must(t)(gate.NewComment(f, trust, []string{`^claim: \S+`, `working until (?P<until>\S+)`}))
	}
	for _, c := range []struct {
		by   forge.Person
		now  string
		body string
		want slot.Verdict
	}{
		{ann, "10:00", "claim: me", slot.Defer},
		{ann, "10:00", "I claim: me", slot.Proceed},
		{ann, "10:00", "> claim: me", slot.Proceed},
		{ann, "10:00", "`claim: me`", slot.Proceed},
		{ann, "10:00", "<!-- working until 2026-03-05T11:00:00Z -->", slot.Defer},
		{ann, "11:00", "<!-- working until 2026-03-05T11:00:00Z -->", slot.Proceed},
		{ann, "11:00", "working until tomorrow", slot.Defer},
		{forge.Person{Login: "Our-Bot[bot]", Bot: true}, "10:00", "claim: me", slot.Defer},
		{forge.Person{Login: "b[bot]", App: "our-bot", Bot: true}, "10:00", "claim: me", slot.Defer},
		{claude, "10:00", "claim: me", slot.Proceed},
		{eve, "10:00", "claim: me", slot.Proceed},
	} {
		if d := decide(t, with(talk(anIssue(t), c.now, c.by, c.body))); d.Verdict != c.want {
			t.Errorf("%s at %s: %q: %+v", c.by.Login, c.now, c.body, d)
		}
	}
	f := talk(anIssue(t), "10:00", ann, "claim: me")
	f.comments.At = f.comments.At.AddDate(0, 0, 1)
	verdict(t, decide(t, with(f)), slot.Proceed, "nobody's") // a day old
	f.comments.At = time.Time{}
	verdict(t, decide(t, with(f)), slot.Defer, "does not tell its time") // P8
	for _, bad := range []string{"(", ""} {
		if _, err := gate.NewComment(f, trust, []string{bad}); !errors.Is(err, slot.ErrUsage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Whatever a stranger writes keeps nobody away, and whatever anybody writes is an
// answer.
func FuzzComment(f *testing.F) {
	for _, s := range []string{claudeStarts, claudeEnds, handsStart, iddClaim, iddRelease, devClaim, devPlain, devLease, hiveClaim, hiveTaken} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		world := talk(anIssue(t), "10:00", eve, body)
		g := must(t)(gate.NewComment(world, gate.Trust{Associations: []string{"member"}}, []string{`until (?P<until>\S+)`}))
		a := gate.Ask{Ref: ref(t, hello+"#12")}
		wants(t, g.Ask(t.Context(), a), slot.Proceed, "")
		world.comments.List[0].Author = ann
		if ans := g.Ask(t.Context(), a); ans.Verdict != slot.Proceed && ans.Verdict != slot.Defer {
			t.Errorf("%+v", ans)
		}
	})
}
