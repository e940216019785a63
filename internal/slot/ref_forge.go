package slot

import "strings"

// Types of forges, as the configuration names them; "" is an unknown one.
const (
	forgeGitHub  = "github"
	forgeForgejo = "forgejo"
	forgeGitea   = "gitea"
	forgeGogs    = "gogs"
	forgeGitLab  = "gitlab"
)

func (g Grammar) defaultHost() string {
	if g.DefaultHost == "" {
		return "github.com"
	}
	return g.DefaultHost
}

// forge returns the type of a canonical host's forge.
func (g Grammar) forge(host string) string {
	switch host {
	case "github.com":
		return forgeGitHub
	case "gitlab.com":
		return forgeGitLab
	case "codeberg.org":
		return forgeForgejo
	}
	for name, kind := range g.Hosts {
		if known, err := ParseHost(name); err != nil || known != host {
			continue
		}
		switch kind = strings.ToLower(kind); kind {
		case forgeGitHub, forgeForgejo, forgeGitea, forgeGogs, forgeGitLab:
			return kind
		}
	}
	return ""
}

// countsMerges reports whether "!5" and "#5" may be two things on a host. Where
// it is not known they are, so that neither shuts out the other.
func (g Grammar) countsMerges(host string) bool {
	kind := g.forge(host)
	return kind == forgeGitLab || kind == ""
}

// flat reports whether a forge has owner/repo and no groups in groups.
func flat(kind string) bool { return kind != forgeGitLab && kind != "" }

// configured reports whether a canonical host is one the configuration names.
func (g Grammar) configured(host string) bool {
	if name, err := ParseHost(g.defaultHost()); err == nil && name == host {
		return true
	}
	for name := range g.Hosts {
		if known, err := ParseHost(name); err == nil && known == host {
			return true
		}
	}
	return false
}

func (g Grammar) known(s string) bool {
	host, err := ParseHost(s)
	return err == nil && (g.configured(host) || g.forge(host) != "")
}
