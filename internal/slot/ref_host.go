package slot

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseHost returns the canonical form of a host as refs have it: lower case,
// no trailing dot, and a port only if it is not 80 or 443. The error is a
// *RefError.
func ParseHost(s string) (string, error) {
	name, port, hasPort := strings.Cut(s, ":")
	name = strings.TrimSuffix(name, ".")
	switch {
	case name == "":
		return "", bad("host", s, "is empty")
	case name[0] == '[' || strings.Contains(port, ":"):
		return "", bad("host", s, "is an IPv6 address; a ref needs a name")
	case len(name) > 253:
		return "", bad("host", s, "is longer than 253 characters")
	}
	for label := range strings.SplitSeq(name, ".") {
		if why := badLabel(label); why != "" {
			return "", bad("host", s, why)
		}
	}
	// Checked to be ASCII, so that no letter of another script folds into one.
	name = strings.ToLower(name)
	if name == "www.github.com" {
		name = "github.com"
	}
	if !hasPort {
		return name, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return "", bad("host", s, "has a port that is not a number from 1 to 65535")
	}
	if n == 80 || n == 443 {
		return name, nil
	}
	if name+":" == keyPrefix {
		return "", bad("host", s, "would read as a key")
	}
	return name + ":" + port, nil
}

func badLabel(s string) string {
	if s == "" {
		return "has an empty label"
	}
	if len(s) > 63 {
		return "has a label longer than 63 characters"
	}
	if s[0] == '-' || s[len(s)-1] == '-' {
		return "has a label that starts or ends with '-'"
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return "is not ASCII; write its xn-- form"
		case !alnum(c) && c != '-' && c != '_':
			return "has a character that no host name has"
		}
	}
	return ""
}

// host reads a host that is written out. Without a dot or a port it must be a
// configured one: its canonical form would read as a group otherwise.
func (g Grammar) host(s string) (string, error) {
	host, err := ParseHost(s)
	if err != nil {
		return "", err
	}
	if !strings.ContainsAny(host, ".:") && !g.configured(host) {
		return "", bad("host", s, "has neither a dot nor a port and is not a configured host")
	}
	return host, nil
}
