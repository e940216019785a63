package mark

import (
	"slices"
	"strings"
)

// Own is what oneslot acts as, and so never listens to.
type Own struct {
	Logins []string
	Apps   []string // ids, slugs, or the logins that those have: "SLUG[bot]"
}

// Login reports whether a login is one of ours, or that of an app of ours.
func (o Own) Login(login string) bool {
	if login == "" {
		return false
	}
	for _, own := range o.Logins {
		if strings.EqualFold(own, login) {
			return true
		}
	}
	app := slug(login)
	return app != login && o.App(app)
}

// Written reports whether a text is one of those that oneslot writes on forges, by
// whatever account: its reservations and tickets begin so. Whoever else writes one
// silences himself.
func Written(text string) bool { return strings.HasPrefix(text, "<!-- oneslot:") }

// App reports whether one of the names of an app, its id or its slug, is ours.
func (o Own) App(names ...string) bool {
	for _, own := range o.Apps {
		for _, name := range names {
			if name != "" && strings.EqualFold(slug(own), name) {
				return true
			}
		}
	}
	return false
}

// Names are all that we are called by.
func (o Own) Names() []string {
	names := slices.Clone(o.Logins)
	for _, app := range o.Apps {
		names = append(names, slug(app))
	}
	return names
}

// slug is an app's without the end that its login has.
func slug(app string) string {
	if n := len(app) - len("[bot]"); n >= 0 && strings.EqualFold(app[n:], "[bot]") {
		return app[:n]
	}
	return app
}
