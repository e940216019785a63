package slot

import (
	"strconv"
	"strings"
)

// RefKind says what a ref names.
type RefKind string

const (
	// RefIssue is an issue, or a pull request of a forge that numbers both
	// with one counter: "owner/repo#12".
	RefIssue RefKind = "issue"
	// RefMerge is a merge request where it has a counter of its own:
	// "group/project!12".
	RefMerge RefKind = "merge"
	// RefBranch is a branch: "owner/repo@branch".
	RefBranch RefKind = "branch"
	// RefCheck is one check on a branch: "owner/repo@branch:check".
	RefCheck RefKind = "check"
	// RefKey is any name of the user's: "key:anything".
	RefKey RefKind = "key"
)

// Bounds of a ref and its parts. Lengths are in bytes.
const (
	// MaxRef bounds the canonical form, so that any store can index it.
	MaxRef = 2048
	// MaxNumber is the largest number of an issue or pull request.
	MaxNumber = 1<<31 - 1
	// MaxName bounds an owner, a group or a repository's name.
	MaxName = 255
	// MaxText bounds a branch, a check or a key.
	MaxText = 512
)

// Ref is the canonical identity of one piece of work. Refs are equal (==) if
// and only if they name the same slot. The zero Ref names nothing.
//
// Hosts and repository names are held in lower case, since forges compare them
// so; branches, checks and keys are held byte for byte.
type Ref struct {
	kind   RefKind
	host   string // with the port, unless that is 80 or 443
	path   string // owner/repo, group/sub/project
	number int
	name   string // the branch or the key
	check  string
}

// String returns the canonical form: always with the host, and readable by
// ParseCanonical. It is empty for the zero Ref.
func (r Ref) String() string {
	switch r.kind {
	case RefIssue:
		return r.Repo() + "#" + strconv.Itoa(r.number)
	case RefMerge:
		return r.Repo() + "!" + strconv.Itoa(r.number)
	case RefBranch:
		return r.Repo() + "@" + r.name
	case RefCheck:
		return r.Repo() + "@" + r.name + ":" + r.check
	case RefKey:
		return keyPrefix + r.name
	}
	return ""
}

// Repo returns "host/owner/repo", or "" for a key.
func (r Ref) Repo() string {
	if r.host == "" {
		return ""
	}
	return r.host + "/" + r.path
}

// Owner returns the owner, or all groups as "group/sub"; "" for a key.
func (r Ref) Owner() string {
	return r.path[:max(0, strings.LastIndexByte(r.path, '/'))]
}

// Name returns the last segment of the repository; "" for a key.
func (r Ref) Name() string {
	return r.path[strings.LastIndexByte(r.path, '/')+1:]
}

// Host returns the host, with its port if it has one; "" for a key.
func (r Ref) Host() string { return r.host }

// Kind returns what the ref names; "" for the zero Ref.
func (r Ref) Kind() RefKind { return r.kind }

// Number returns the number of an issue, pull or merge request, from 1 to
// MaxNumber; 0 for other kinds.
func (r Ref) Number() int { return r.number }

// Branch returns the branch of a RefBranch or RefCheck, without refs/heads/.
func (r Ref) Branch() string {
	if r.kind == RefKey {
		return ""
	}
	return r.name
}

// Check returns the name of the check of a RefCheck.
func (r Ref) Check() string { return r.check }

// Key returns what follows "key:" in a RefKey.
func (r Ref) Key() string {
	if r.kind != RefKey {
		return ""
	}
	return r.name
}

// In returns the same number, branch or check of another repository, named
// "host/owner/repo" in canonical form. The error is a *RefError. A key is in none,
// and stays what it is.
func (r Ref) In(repo string) (Ref, error) {
	if r.host == "" {
		return r, nil
	}
	return ParseCanonical(repo + r.String()[len(r.Repo()):])
}

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// MarshalText writes the canonical form, nothing for the zero Ref.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Ref) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Ref{}
		return nil
	}
	read, err := ParseCanonical(string(text))
	if err != nil {
		return err
	}
	*r = read
	return nil
}
