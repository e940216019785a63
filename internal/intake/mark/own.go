package mark

import "strings"

// Own is what oneslot acts as, and so never listens to.
type Own struct {
	Logins []string
	Apps   []string // ids or slugs
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
	slug, bot := strings.CutSuffix(login, "[bot]")
	return bot && o.App(slug)
}

// Written reports whether a text is one of those that oneslot writes on forges, by
// whatever account: its reservations and tickets begin so. Whoever else writes one
// silences himself.
func Written(text string) bool { return strings.HasPrefix(text, "<!-- oneslot:") }

// App reports whether one of the names of an app, its id or its slug, is ours.
func (o Own) App(names ...string) bool {
	for _, own := range o.Apps {
		for _, name := range names {
			if name != "" && strings.EqualFold(own, name) {
				return true
			}
		}
	}
	return false
}

// Names are all that we are called by.
func (o Own) Names() []string { return append(append([]string(nil), o.Logins...), o.Apps...) }
