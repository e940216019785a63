package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// parseAddress reads the address of a store and returns it in its one form:
// "sqlite:" and an absolute path, or the address of a server. A plain path
// (absolute, beginning with ./ or ../, or ending in .db) is taken for a SQLite file.
// dir gives the folder that relative paths count from.
//
// No error repeats the address: it may hold a password.
func parseAddress(s string, dir func() (string, error)) (string, error) {
	scheme, rest, ok := strings.Cut(s, ":")
	switch {
	case s == "":
		return "", errors.New("empty; leave it out for the default")
	case isPath(s):
		rest = s
	case ok && strings.EqualFold(scheme, "sqlite"):
	case ok && isServer(scheme):
		return parseServer(strings.ToLower(scheme), s, dir)
	case ok:
		return "", refuseScheme(strings.ToLower(scheme), rest)
	default:
		return "", errors.New("not an address; a SQLite file is sqlite:PATH")
	}
	path, err := parsePath(rest, dir)
	if err != nil {
		return "", err
	}
	return "sqlite:" + path, nil
}

func isServer(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "unix", "http", "https":
		return true
	}
	return false
}

func isPath(s string) bool {
	for _, prefix := range []string{"/", "./", "../"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return strings.HasSuffix(s, ".db") && !strings.Contains(s, ":")
}

// refuseScheme says why an address that is not SQLite's is not taken.
func refuseScheme(scheme, rest string) error {
	known := []string{"postgres", "postgresql", "redis", "rediss", "git"}
	for _, k := range known {
		if k == scheme {
			return fmt.Errorf("%s addresses are not in this version", k)
		}
	}
	if meant := nearest(scheme, names(append(known, "sqlite", "unix", "https")...)); meant != "" {
		return fmt.Errorf("not an address that is known; did you mean %q?", meant+":")
	}
	what := "that"
	if len(scheme) <= 16 && !strings.Contains(rest, "@") && !strings.ContainsFunc(scheme, func(r rune) bool { return r < 'a' || r > 'z' }) {
		what = strconv.Quote(scheme + ":") // a word, and no user's name
	}
	return errors.New(what + " is no kind of store; there are sqlite:PATH, unix:PATH, https://HOST and http:// on loopback")
}

// parsePath checks the path of a SQLite file and makes it absolute.
func parsePath(path string, dir func() (string, error)) (string, error) {
	switch {
	case path == "":
		return "", errors.New("sqlite: needs the path of a file behind it")
	case strings.HasPrefix(path, ":memory:"):
		return "", errors.New("a store in memory would exclude nobody")
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", errors.New(`"~" is not expanded here; write the whole path`)
	case strings.Contains(path, "?"):
		return "", errors.New(`a SQLite address takes no options, and its path no "?"`)
	case strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///"):
		return "", errors.New("sqlite: takes a path and no host; write sqlite:/the/whole/path")
	case strings.HasSuffix(path, "/") || path == "." || path == ".." || strings.HasSuffix(path, "/..") || strings.HasSuffix(path, "/."):
		return "", errors.New("that path is a folder's; name the file in it")
	case strings.ContainsFunc(path, unicode.IsControl):
		return "", errors.New("control characters have no place in a path")
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	base, err := dir()
	if err != nil {
		return "", fmt.Errorf("its path is relative, and to what could not be found out: %w", err)
	}
	return filepath.Join(base, path), nil
}
