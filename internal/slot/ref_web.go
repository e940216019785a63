package slot

import (
	"net/url"
	"strings"
)

// hasScheme reports whether s is an address such as https://….
func hasScheme(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && scheme != "" && !strings.ContainsFunc(scheme, func(r rune) bool {
		return r != '+' && r != '-' && r != '.' && (r > 0x7f || !alnum(byte(r)))
	})
}

// splitAddress takes an address apart. The segments of the path are decoded
// once; user, query and fragment are dropped. The errors of url.Parse are too,
// since they repeat the address.
func splitAddress(s string) (scheme, host string, segs []string, err error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", "", nil, bad("address", "", "cannot be read")
	}
	path := strings.TrimRight(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	segs, err = unescape(strings.Split(path, "/"))
	return u.Scheme, strings.TrimSuffix(u.Host, ":"), segs, err
}

func unescape(segs []string) ([]string, error) {
	out := make([]string, len(segs))
	for i, s := range segs {
		var err error
		if out[i], err = url.PathUnescape(s); err != nil {
			return nil, bad("address", s, "has a '%' that encodes nothing")
		}
		if out[i] == "." || out[i] == ".." {
			return nil, bad("address", s, "has a step in its path")
		}
	}
	return out, nil
}

// readWeb reads a web address of a ref or a repository.
func (g Grammar) readWeb(s string) (Ref, string, error) {
	scheme, name, segs, err := splitAddress(s)
	if err != nil {
		return Ref{}, "", err
	}
	if scheme != "https" && scheme != "http" {
		return Ref{}, "", bad("address", scheme, "is not http or https")
	}
	host, err := g.host(name)
	if err != nil {
		return Ref{}, "", err
	}
	kind := g.forge(host)
	if !flat(kind) && (host == "api.github.com" || segs[0] == "api" ||
		segs[0] == "groups" && len(segs) > 2 && segs[2] == "-") {
		return Ref{}, "", bad("address", segs[0], "is not where repositories are; the web address of an issue or a pull request is needed")
	}
	repo, view := splitView(kind, segs)
	if len(view) > 0 {
		r, err := g.viewRef(host, repo, view)
		return r, "", err
	}
	for _, word := range repo[min(2, len(repo)):] {
		if viewMark(kind, word) != 0 {
			return Ref{}, "", bad("address", word, "is a list; the address of one of its entries is needed")
		}
	}
	whole, err := g.wholeRepo(host, repo)
	return Ref{}, whole, err
}

// readPath reads a web address without its scheme, or a repository.
func (g Grammar) readPath(s string) (Ref, string, error) {
	s, _, _ = strings.Cut(s, "?")
	host, segs, err := g.repository(strings.TrimRight(s, "/"))
	if err != nil {
		return Ref{}, "", err
	}
	if repo, view := splitView(g.forge(host), segs); viewable(g.forge(host), view) {
		if view, err = unescape(view); err != nil {
			return Ref{}, "", err
		}
		r, err := g.viewRef(host, repo, view)
		return r, "", err
	}
	whole, err := g.wholeRepo(host, segs)
	return Ref{}, whole, err
}

// wholeRepo returns "host/owner/repo", with room for the shortest ref in it. It
// must mean the same when it is read again.
func (g Grammar) wholeRepo(host string, segs []string) (string, error) {
	path, err := parsePath(segs)
	if err != nil {
		return "", err
	}
	kind := g.forge(host)
	if _, view := splitView(kind, strings.Split(path, "/")); viewable(kind, view) {
		return "", bad("repository", path, "reads as the address of an issue, a pull request or a branch")
	}
	r, err := bounded(Ref{kind: RefIssue, host: host, path: path, number: 1})
	return r.Repo(), err
}

// splitView finds where the repository ends and the view of it begins.
func splitView(kind string, segs []string) (repo, view []string) {
	if flat(kind) {
		n := min(2, len(segs))
		return segs[:n], segs[n:]
	}
	// GitLab has no project or group "-", and puts it before every view; of
	// old it did not.
	for i := 2; i < len(segs); i++ {
		if segs[i] == "-" {
			return segs[:i], segs[i+1:]
		}
	}
	for i := 2; i < len(segs); i++ {
		if viewable(kind, segs[i:]) {
			return segs[:i], segs[i:]
		}
	}
	return segs, nil
}

// viewable reports whether a view is that of one ref.
func viewable(kind string, view []string) bool {
	if len(view) < 2 {
		return false
	}
	switch viewMark(kind, view[0]) {
	case 0:
		return false
	case '@':
		return view[0] == "tree" || view[1] == "branch" && len(view) > 2
	}
	return view[1] != "" && strings.Trim(view[1], "0123456789") == ""
}

// viewMark returns the mark of the refs that a view of a forge shows. A forge
// that writes /pull/ or /pulls/ numbers them with the issues.
func viewMark(kind, word string) byte {
	hub := kind == forgeGitHub || kind == ""
	lab := kind == forgeGitLab || kind == ""
	tea := kind != forgeGitHub && kind != forgeGitLab
	switch {
	case word == "issues", word == "pull" && hub, word == "pulls" && tea, word == "work_items" && lab:
		return '#'
	case word == "merge_requests" && lab:
		return '!'
	case word == "tree" && (hub || lab), word == "src" && tea:
		return '@'
	}
	return 0
}

func (g Grammar) viewRef(host string, repo, view []string) (Ref, error) {
	kind := g.forge(host)
	mark := viewMark(kind, view[0])
	switch {
	case mark == 0:
		return Ref{}, bad("address", view[0], "is not an issue, a pull request or a branch")
	case len(view) < 2:
		return Ref{}, bad("address", view[0], "is a list; the address of one of its entries is needed")
	case mark != '@':
		return g.newRef(host, repo, mark, view[1])
	case !viewable(kind, view):
		return Ref{}, bad("address", view[1], "is not a branch")
	case view[0] == "src":
		view = view[1:]
	}
	return branchRef(host, repo, strings.Join(view[1:], "/"), "", false)
}
