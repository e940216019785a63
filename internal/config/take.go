package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/oneslot/oneslot/internal/slot"
)

type (
	durationValue = Value[time.Duration]
	sizeValue     = Value[int64]
)

// ForgeTypes are the forges that oneslot can name.
func ForgeTypes() []string { return []string{"github", "forgejo", "gitea", "gogs", "gitlab"} }

func aDuration(name string, field func(*Config) *durationValue) row {
	return row{name: name, wants: `a duration in quotes, such as "7d"`, take: func(c *Config, g given) error {
		d, err := ParseDuration(g.text)
		if err == nil && d == 0 {
			err = errors.New("must be more than zero")
		}
		*field(c) = durationValue{d, g.origin}
		return err
	}}
}

func aSize(name string, field func(*Config) *sizeValue) row {
	return row{name: name, wants: `a size in quotes, such as "50MB"`, take: func(c *Config, g given) error {
		n, err := ParseBytes(g.text)
		if err == nil && n == 0 {
			err = errors.New("must be more than zero")
		}
		*field(c) = sizeValue{n, g.origin}
		return err
	}}
}

func takeStore(c *Config, g given) error {
	address, err := parseAddress(g.text, g.dir)
	c.Store = Value[string]{address, g.origin}
	return err
}

// takeClaims takes any address that can be read. Whether the claims can be there
// is known when the store is: see Load.
func takeClaims(c *Config, g given) error {
	address, err := parseAddress(g.text, g.dir)
	c.Claims = Value[string]{address, g.origin}
	return err
}

func takeHost(c *Config, g given) error {
	c.Host = Value[string]{g.text, g.origin}
	return checkName(g.text)
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

func takeDefaultHost(c *Config, g given) error {
	host, err := canonicalHost(g.text)
	c.DefaultHost = Value[string]{host, g.origin}
	return err
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

func openForge(c *Config, at Origin) { c.Forges = append(c.Forges, Forge{origin: at}) }

func takeForgeHost(c *Config, g given) error {
	host, err := canonicalHost(g.text)
	c.Forges[len(c.Forges)-1].Host = Value[string]{host, g.origin}
	return err
}

func takeForgeType(c *Config, g given) error {
	c.Forges[len(c.Forges)-1].Type = Value[string]{g.text, g.origin}
	if types := ForgeTypes(); !slices.Contains(types, g.text) {
		return fmt.Errorf("must be one of %s", strings.Join(types, ", "))
	}
	return nil
}
