package github

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

// ghost is who GitHub shows for an account that is gone.
const ghost = "ghost"

// person reads who did something. GraphQL leaves the "[bot]" of an app's login away.
func person(u *github.User, app *github.App, association string) forge.Person {
	p := forge.Person{Login: u.GetLogin(), Bot: u.GetType() == "Bot", Association: strings.ToLower(association), App: appName(app)}
	if p.Login == "" {
		p.Login = ghost
	}
	if p.Bot && !strings.HasSuffix(p.Login, "[bot]") {
		p.Login += "[bot]"
	}
	return p
}

// appName is an app's slug, or its id if it has none; as the webhooks' reader has it.
func appName(app *github.App) string {
	if app.GetSlug() == "" && app.GetID() != 0 {
		return strconv.FormatInt(app.GetID(), 10)
	}
	return app.GetSlug()
}

func logins(users []*github.User) []string {
	var list []string
	for _, u := range users {
		if u.GetLogin() != "" {
			list = append(list, u.GetLogin())
		}
	}
	return list
}

func labels(all []*github.Label) []string {
	var list []string
	for _, l := range all {
		list = append(list, l.GetName())
	}
	return list
}

// text is a time as GitHub's API and most of its webhooks write it:
// 2006-01-02T15:04:05Z. The library keeps the moment and not the text; GitHub writes
// whole seconds of UTC, so that nothing is lost. Empty for none.
func text(t github.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// statusText is a time as GitHub's webhook of commit statuses writes it, which alone
// has an offset: 2006-01-02T15:04:05+00:00.
func statusText(t github.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05-07:00")
}

// date is the forge's clock when it answered; zero if it did not say.
func date(resp *github.Response) time.Time {
	if resp == nil || resp.Response == nil {
		return time.Time{}
	}
	at, _ := transport.Date(resp.Header)
	return at
}

func status(resp *github.Response) int {
	if resp == nil || resp.Response == nil {
		return 0
	}
	return resp.StatusCode
}
