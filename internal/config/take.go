package config

import (
	"errors"
	"strings"
	"unicode"

	"github.com/oneslot/oneslot/internal/slot"
)

// address is a store's. Whether the claims can be at theirs is known when the
// store's is: see Load.
func address() kind[string] {
	return kind[string]{aText, "an address in quotes", func(g given) (string, error) { return parseAddress(g.text, g.dir) }}
}

// checkName refuses what could not stand in one line of a terminal.
func checkName(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return errors.New("empty")
	case len(s) > 255:
		return errors.New("longer than 255 bytes")
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("has characters that cannot be printed")
	}
	return nil
}

// canonicalHost checks a forge's host by the rule of the ref grammar.
func canonicalHost(s string) (string, error) {
	if strings.ContainsAny(s, "/@") {
		return "", errors.New("not a host: write its name alone, as in git.example.org")
	}
	host, err := slot.ParseHost(s)
	var re *slot.RefError
	if errors.As(err, &re) {
		// Not the whole error: it speaks of refs and repeats the text.
		err = errors.New("not a host: " + re.Why)
	}
	return host, err
}
