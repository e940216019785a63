package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

func (l *loader) completeForges() {
	hosts := map[string]Origin{}
	for i := range l.c.Forges {
		f := &l.c.Forges[i]
		required(l, f.Host, f.origin, "forge.host")
		l.unique("forge.host", hosts, f.Host)
		required(l, f.Type, f.origin, "forge.type")
		if f.Host.V == "" || f.Type.V == "" {
			continue // reported
		}
		if f.API.Origin == (Origin{}) {
			f.API = byDefault(defaultAPI(f.Type.V, f.Host.V))
		} else if why := added(f.Type.V, f.API.V); why != "" {
			l.bad.add(f.API.Origin, "forge.api: %s", why)
		}
		l.forgeToken(f)
		for _, glob := range f.Repos.V {
			if err := f.checkRepo(glob); err != nil {
				l.bad.add(f.Repos.Origin, "forge.repos: %s: %v", quote(glob), err)
			}
		}
		if f.Poll.V > 0 && f.Repos.Origin == (Origin{}) {
			l.bad.add(f.Poll.Origin, "forge.poll: needs repos, which say what to look at")
		}
	}
}

// forgeToken checks that a token has one form, and all of it.
func (l *loader) forgeToken(f *Forge) {
	t := f.Token
	l.secret(t.Secret, "forge.token")
	none := Origin{}
	app := setBy(t.AppID.Origin, t.Key.Origin)
	switch {
	case t.Secret.named() && app != none:
		l.bad.add(app, "forge.token: is a secret or an app's, not both")
	case t.Helper.V && (t.Secret.named() || app != none):
		l.bad.add(t.Helper.Origin, "forge.token: helper = true goes alone")
	case app == none:
	case t.AppID.Origin == none || t.Key.Origin == none:
		l.bad.add(app, "forge.token: an app needs app_id and key")
	case f.Type.V != "github":
		l.bad.add(app, "forge.token: apps are GitHub's, and this is a %s", f.Type.V)
	}
}

// added says why an address is not the one that a forge's library wants.
func added(kind, api string) string {
	for _, path := range []string{"/api/v1", "/api/v3", "/api/v4"} {
		if kind != "github" && strings.HasSuffix(api, path) {
			return fmt.Sprintf("write it without %s, which is added", path)
		}
	}
	if api == "https://github.com" {
		return "GitHub's API is at https://api.github.com, as by default"
	}
	return ""
}

// parseAPI reads the address of a forge's API.
func parseAPI(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || checkName(s) != nil:
		return "", errors.New("not a web address; write https://HOST")
	case u.User != nil:
		return "", errors.New("has no place for a password or a user; see token")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("takes no options")
	case u.Scheme == "http" && !loopbackHost(u.Hostname()):
		return "", errors.New("http:// is for loopback only, since it shows the token to everybody on the way; use https://")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// checkRepo checks a glob of repositories.
func (f *Forge) checkRepo(glob string) error {
	parts := strings.Split(glob, "/")
	switch {
	case strings.ContainsAny(glob, " :#!@{}"):
		return errors.New("is a pattern of repositories, as in octo-org/*")
	case strings.Contains(glob, "**"):
		return errors.New(`"*" ends at a slash, twice does not change that; write one for each level`)
	case len(parts) > 1 && parts[0] == f.Host.V:
		return errors.New("write it without the host")
	case len(parts) < 2 || len(parts) > 2 && f.Type.V != "gitlab":
		return errors.New("must be owner/repo, each of which may have wildcards")
	}
	for _, p := range parts {
		if p == "" || p == "." || p == ".." {
			return errors.New("has a part that is no name")
		}
	}
	return nil
}
