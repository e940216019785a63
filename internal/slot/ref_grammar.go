package slot

import (
	"fmt"
	"strings"
)

// maxInput bounds what is read at all: a canonical form in which every byte is
// percent-encoded, and a query.
const maxInput = 4 * MaxRef

// Grammar is what the meaning of a ref depends on beside its text. The zero
// Grammar knows the public forges only.
type Grammar struct {
	// DefaultHost is meant where no host is written; "" is github.com.
	DefaultHost string
	// Hosts are the configured hosts with the type of their forge: github,
	// forgejo, gitea, gogs or gitlab. The public forges need no entry.
	Hosts map[string]string
	// Origin returns the address of the origin remote, for "#12" alone. It is
	// called for nothing else. With nil, "#12" alone is refused.
	Origin func() (string, error)
}

// ParseRef reads a ref as people write it:
//
//	owner/repo#12                  on the default host
//	host/group/sub/project!12      host: has a dot or a port, or is configured
//	owner/repo@branch[:check]
//	key:anything                   1 to MaxText bytes of UTF-8, one line
//	https://host/owner/repo/pull/12/files
//	#12, !12                       in the repository of the origin remote
//
// The error is a *RefError.
func ParseRef(s string, g Grammar) (Ref, error) {
	r, repo, err := g.read(s)
	if err == nil && r.IsZero() {
		err = bad("number", "", numberless(s, repo))
	}
	if err != nil {
		return Ref{}, discreet(err, s, false)
	}
	return r, nil
}

// numberless says what is wrong with s, which names a repository and nothing in it.
func numberless(s, repo string) string {
	if !hasScheme(s) && !strings.Contains(s, "?") {
		repo = strings.TrimRight(s, "/") // as its writer wrote it
	}
	if len(repo) > shownText {
		return "is missing"
	}
	return "is missing; write " + repo + "#12"
}

// ParseScope reads what can be put on hold: a ref, Everything, or a repository as
// owner/repo, host/group/project or a web address. It returns the canonical
// form, a ref's String or a repository's "host/owner/repo". The error is a
// *RefError.
func ParseScope(s string, g Grammar) (string, error) {
	if s == Everything {
		return s, nil
	}
	r, repo, err := g.read(s)
	if err != nil {
		return "", discreet(err, s, true)
	}
	if r.IsZero() {
		return repo, nil
	}
	return r.String(), nil
}

// ParseCanonical reads back exactly what String wrote, and nothing else. Unlike
// ParseRef it depends on no configuration. The error is a *RefError.
func ParseCanonical(s string) (Ref, error) {
	r, err := parseCanonical(s)
	if err == nil && r.String() != s {
		err = bad("ref", s, "is not in its canonical form")
	}
	if err != nil {
		return Ref{}, discreet(err, s, false)
	}
	return r, nil
}

func parseCanonical(s string) (Ref, error) {
	if len(s) > MaxRef {
		return Ref{}, bad("ref", s, fmt.Sprintf("is longer than %d bytes", MaxRef))
	}
	if key, ok := strings.CutPrefix(s, keyPrefix); ok {
		return keyRef(key)
	}
	i := strings.IndexAny(s, "#!@")
	if i < 0 {
		return Ref{}, bad("number", "", "is missing")
	}
	host, path, _ := strings.Cut(s[:i], "/")
	host, err := ParseHost(host)
	if err != nil {
		return Ref{}, err
	}
	return Grammar{}.newRef(host, strings.Split(path, "/"), s[i], s[i+1:])
}

// read reads a ref, or else a repository.
func (g Grammar) read(s string) (r Ref, repo string, err error) {
	if len(s) > maxInput {
		return Ref{}, "", bad("ref", s, fmt.Sprintf("is longer than %d bytes", maxInput))
	}
	if key, ok := strings.CutPrefix(s, keyPrefix); ok {
		r, err = keyRef(key)
		return r, "", err
	}
	if hasScheme(s) {
		return g.readWeb(s)
	}
	// No host, owner or repository has one of these, so the first one ends
	// them, and all after it belongs to what it begins.
	i := strings.IndexAny(s, "#!@")
	if i < 0 {
		return g.readPath(s)
	}
	var host string
	var segs []string
	if i == 0 && s[0] != '@' {
		host, segs, err = g.origin()
	} else {
		host, segs, err = g.repository(s[:i])
	}
	if err != nil {
		return Ref{}, "", err
	}
	r, err = g.newRef(host, segs, s[i], s[i+1:])
	return r, "", err
}

// repository tells host and path apart.
func (g Grammar) repository(s string) (host string, segs []string, err error) {
	if s == "" {
		return "", nil, bad("repository", "", "is missing")
	}
	segs = strings.Split(s, "/")
	first := segs[0]
	hosted := strings.ContainsAny(first, ".:") || g.configured(strings.ToLower(first))
	switch {
	case len(segs) > 2 && hosted:
		host, err = g.host(first)
		return host, segs[1:], err
	case len(segs) == 2 && (strings.Contains(first, ":") || strings.Contains(first, ".") && g.known(first)):
		// Hardly an owner of that name on the default host.
		return "", nil, bad("repository", s, "has a host but no owner")
	}
	host, err = ParseHost(g.defaultHost())
	if e, ok := err.(*RefError); ok {
		e.Part = "default host"
	}
	return host, segs, err
}

// newRef builds the ref that mark and what follows it name in a repository.
func (g Grammar) newRef(host string, segs []string, mark byte, rest string) (r Ref, err error) {
	if mark == '@' {
		branch, check, checked := strings.Cut(rest, ":") // git allows no ':' in a branch
		return branchRef(host, segs, branch, check, checked)
	}
	r = Ref{kind: RefIssue, host: host}
	if r.path, err = parsePath(segs); err != nil {
		return Ref{}, err
	}
	if r.number, err = parseNumber(rest); err != nil {
		return Ref{}, err
	}
	if mark == '!' && g.countsMerges(host) {
		r.kind = RefMerge
	}
	return bounded(r)
}

func branchRef(host string, segs []string, branch, check string, checked bool) (r Ref, err error) {
	r = Ref{kind: RefBranch, host: host, name: branch}
	if r.path, err = parsePath(segs); err != nil {
		return Ref{}, err
	}
	if why := badBranch(branch); why != "" {
		return Ref{}, bad("branch", branch, why)
	}
	if checked {
		if why := badText(check); why != "" {
			return Ref{}, bad("check", check, why)
		}
		r.kind, r.check = RefCheck, check
	}
	return bounded(r)
}

func keyRef(key string) (Ref, error) {
	if why := badText(key); why != "" {
		return Ref{}, bad("key", key, why)
	}
	return Ref{kind: RefKey, name: key}, nil
}

func bounded(r Ref) (Ref, error) {
	if s := r.String(); len(s) > MaxRef {
		return Ref{}, bad("ref", s, fmt.Sprintf("is longer than %d bytes", MaxRef))
	}
	return r, nil
}

// discreet takes the text out of an error if s may hold a password: in the user
// part of an address, with or without a scheme, or in a query.
func discreet(err error, s string, scope bool) error {
	e, ok := err.(*RefError)
	if !ok {
		return err
	}
	e.scope = scope
	user, _, _ := strings.Cut(s, "/")
	if hasScheme(s) {
		user = s
	}
	if i := strings.LastIndexByte(user, '@'); i > 0 && strings.Contains(user[:i], ":") {
		e.Text = ""
	} else if e.Text == "" && !hasScheme(s) && !strings.Contains(s, "?") {
		e.whole = s
	}
	return e
}
