package config

import (
	"errors"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
)

// parseServer reads the address of a store that a `oneslot serve` keeps: "unix:" and
// a path, https://HOST[:PORT], or http:// on loopback.
func parseServer(scheme, s string, dir func() (string, error)) (string, error) {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", errors.New("control characters have no place in an address")
	}
	if scheme == "unix" {
		return parseSocket(strings.TrimPrefix(s[len("unix:"):], "//"), dir)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "":
		return "", errors.New("not the address of a server; write https://HOST or http://127.0.0.1:PORT")
	case u.User != nil:
		return "", errors.New("a password has no place in an address; the token is taken from ONESLOT_API_TOKEN")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("the address of a server takes no options")
	case scheme == "http" && !loopbackHost(u.Hostname()):
		return "", errors.New("http:// is for loopback only, since it shows everything to everybody on the way; use https://")
	}
	return scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// socketMax is what fits into the address of a unix socket everywhere.
const socketMax = 103

func parseSocket(path string, dir func() (string, error)) (string, error) {
	switch {
	case path == "" || strings.HasSuffix(path, "/"):
		return "", errors.New("unix: needs the path of a socket behind it")
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", errors.New(`"~" is not expanded here; write the whole path`)
	case !filepath.IsAbs(path):
		base, err := dir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(base, path)
	}
	if path = filepath.Clean(path); len(path) > socketMax {
		return "", errors.New("the path of the socket is too long; 103 bytes is the most")
	}
	return "unix:" + path, nil
}

func loopbackHost(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(name, "localhost")
}
