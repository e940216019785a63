package slot

import "strings"

// origin returns the repository of the origin remote.
func (g Grammar) origin() (host string, segs []string, err error) {
	if g.Origin == nil {
		return "", nil, bad("repository", "", "is missing, and there is no origin remote to read it from")
	}
	address, err := g.Origin()
	if err != nil {
		return "", nil, &RefError{Part: "repository", Why: "is missing, and the origin remote does not tell it", Err: err}
	}
	host, segs, err = g.remote(strings.TrimSpace(address))
	if e, ok := err.(*RefError); ok {
		// The address is not what the caller wrote, and may hold a password.
		return "", nil, bad("repository", "", "is missing, and in the address of the origin remote the "+e.Part+" "+e.Why)
	}
	return host, segs, nil
}

// remote reads the address of a git remote: a URL, or host:path as scp has it.
func (g Grammar) remote(s string) (host string, segs []string, err error) {
	var scheme, name string
	if hasScheme(s) {
		scheme, name, segs, err = splitAddress(s)
	} else {
		scheme = "ssh"
		name, segs, err = splitSCP(s)
	}
	if err != nil {
		return "", nil, err
	}
	switch scheme {
	case "https", "http":
		host, err = g.host(name)
	case "ssh", "git+ssh", "ssh+git", "git":
		host, err = g.sshHost(name)
	default:
		err = bad("address", "", "is not one of https, ssh or git")
	}
	if err != nil {
		return "", nil, err
	}
	path, err := parsePath(segs)
	if err != nil {
		return "", nil, err
	}
	segs = strings.Split(path, "/")
	if flat(g.forge(host)) && len(segs) != 2 {
		return "", nil, bad("repository", "", "is not owner/repo")
	}
	return host, segs, nil
}

// splitSCP takes [user@]host:path apart, by git's rule: a slash before the
// first colon makes it a local path.
func splitSCP(s string) (host string, segs []string, err error) {
	host, path, ok := strings.Cut(s, ":")
	if !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) {
		return "", nil, bad("host", "", "is missing: it is a path on this machine")
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	path = strings.TrimRight(strings.TrimPrefix(path, "/"), "/")
	return host, strings.Split(path, "/"), nil
}

// sshHost returns the host, as refs have it, of a forge reached by ssh. The port
// of ssh says nothing about that of the forge's web address; if that is the only
// one configured under the name, it is meant.
func (g Grammar) sshHost(s string) (string, error) {
	s, _, _ = strings.Cut(s, ":")
	host, err := ParseHost(s)
	if err != nil {
		return "", err
	}
	switch host { // where port 22 is closed
	case "ssh.github.com":
		return "github.com", nil
	case "altssh.gitlab.com":
		return "gitlab.com", nil
	}
	if g.configured(host) {
		return host, nil
	}
	found := ""
	for name := range g.Hosts {
		with, err := ParseHost(name)
		if err != nil || !strings.HasPrefix(with, host+":") || with == found {
			continue
		}
		if found != "" {
			return "", bad("host", "", "is configured with more than one port")
		}
		found = with
	}
	if found != "" {
		return found, nil
	}
	// "github.com-work" and "work" are how people give one forge two keys.
	top := host[strings.LastIndexByte(host, '.')+1:]
	if top == host || strings.Contains(top, "-") && !strings.HasPrefix(top, "xn--") {
		return "", bad("host", "", "looks like an alias from ssh's own configuration")
	}
	return host, nil
}
