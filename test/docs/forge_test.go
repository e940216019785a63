package docs

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

// forgeAddress is where pages have a Forgejo: each page has one of its own.
const forgeAddress = "127.0.0.1:3000"

// startForge starts the forge of a page, and returns its address. It has the repository
// octo-org/octo-repo, with issue 12 open and labelled "agent", issue 13 closed, and
// pull request 14, whose check has failed. oneslot-bot may write there.
func startForge(t *testing.T) (address, token string) {
	t.Helper()
	w := forgetest.New(forgetest.Forgejo, nil)
	const repo = "octo-org/octo-repo"
	w.AddRepo(repo)
	w.AddCommit(repo, "The first")
	w.AddUser(forgetest.User{Login: "mona", Association: "owner", Token: "token-of-mona", Writer: true})
	w.AddUser(forgetest.User{Login: "oneslot-bot", Association: "collaborator", Token: "token-of-the-bot", Writer: true})
	for range 11 {
		w.Close(w.AddIssue(repo, "mona", "Long done", ""), "mona")
	}
	w.Label(w.AddIssue(repo, "mona", "It does not work", ""), "agent", true, "mona")
	w.Close(w.AddIssue(repo, "mona", "It did not work", ""), "mona")
	pull := w.AddPull(repo, "mona", "Make it work", "work")
	head, _ := w.Thread(pull)
	w.SetCheck(head.Head.Sha, forgetest.Check{Name: "test", State: "failure", App: "ci"})
	api, stop := forgetest.Start(w)
	t.Cleanup(stop)
	address = strings.TrimPrefix(strings.TrimSuffix(api, "/api/v1"), "http://")
	return address, "token-of-the-bot"
}
