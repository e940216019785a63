package config

import (
	"bytes"
	"errors"
	"fmt"
)

// Secret is where a secret is to be found; it is read when it is needed. One of
// the two is set, or neither: no secret.
type Secret struct {
	File Value[string] // absolute path
	Env  Value[string] // a variable's name
}

// IsSet reports whether there is a secret.
func (s Secret) IsSet() bool { return s.File.V != "" || s.Env.V != "" }

// named reports whether a place was given, even a bad one.
func (s Secret) named() bool { return s.File.Origin != (Origin{}) || s.Env.Origin != (Origin{}) }

// String says where the secret is, and never what it is.
func (s Secret) String() string {
	switch {
	case s.File.V != "":
		return "file " + s.File.V
	case s.Env.V != "":
		return "environment " + s.Env.V
	}
	return "none"
}

func (s Secret) origin() Origin {
	if s.File.V != "" {
		return s.File.Origin
	}
	return s.Env.Origin
}

// ReadSecret reads a secret. One line end at its end is dropped, for editors and
// echo put it there. Warnings and the error, a *Problems, never show it. An empty
// secret is an error, and so is none at all.
func (c *Config) ReadSecret(s Secret) (value []byte, warnings []string, err error) {
	value, warnings, err = c.readSecret(s)
	if err == nil && len(value) == 0 {
		err = errors.New("the secret is empty")
	}
	if err != nil {
		return nil, warnings, Refuse(s.origin(), "%s: %v", s, err)
	}
	return value, warnings, nil
}

// HookSecret is ReadSecret for a hook: with unsigned = true it may be empty, or not
// there at all.
func (c *Config) HookSecret(h Hook) (value []byte, warnings []string, err error) {
	if h.Unsigned.V {
		if value, warnings, err = c.readSecret(h.Secret); err == nil && len(value) == 0 {
			return nil, warnings, nil
		}
	}
	return c.ReadSecret(h.Secret)
}

// readSecret is ReadSecret for a secret that may be empty.
func (c *Config) readSecret(s Secret) (value []byte, warnings []string, err error) {
	if value, warnings, err = c.readPlace(s); err != nil {
		return nil, nil, err
	}
	value, dropped := dropLineEnd(value)
	if dropped {
		warnings = append(warnings, s.warning("ends in a line end, which does not count"))
	}
	if isControl := func(r rune) bool { return r < ' ' || r == 0x7f }; len(bytes.TrimSpace(value)) != len(value) || bytes.ContainsFunc(value, isControl) {
		warnings = append(warnings, s.warning("has white space at an end, or control characters, which count"))
	}
	return value, warnings, nil
}

// readPlace reads what stands at a place, as it is. The value of none is empty.
func (c *Config) readPlace(s Secret) (value []byte, warnings []string, err error) {
	if s.File.V != "" {
		value, info, err := readBounded(s.File.V)
		if err != nil {
			return nil, nil, err
		}
		if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
			warnings = append(warnings, s.warning("can be read or written by others (mode %04o); chmod go-rwx it", mode.Perm()))
		}
		return value, warnings, nil
	}
	if s.Env.V != "" {
		v, ok := c.lookup(s.Env.V)
		if !ok {
			return nil, nil, errors.New("the variable is not set")
		}
		value = []byte(v)
	}
	return value, nil, nil
}

func (s Secret) warning(format string, args ...any) string {
	return Problem{s.origin(), s.String() + " " + fmt.Sprintf(format, args...)}.String()
}

// APIToken is what this process shows to the API of a daemon; empty for nothing.
func (c *Config) APIToken() string {
	v, _ := c.lookup("ONESLOT_API_TOKEN")
	return v
}

func (c *Config) lookup(name string) (string, bool) {
	if c.env == nil { // not from Load
		return "", false
	}
	return c.env(name)
}

func dropLineEnd(b []byte) ([]byte, bool) {
	rest, ok := bytes.CutSuffix(b, []byte("\n"))
	if ok {
		rest = bytes.TrimSuffix(rest, []byte("\r"))
	}
	return rest, ok
}

func (c *Config) secrets() []Secret {
	var list []Secret
	for _, h := range c.Hooks {
		list = append(list, h.Secret)
	}
	for _, t := range c.Tokens {
		list = append(list, t.Secret)
	}
	for _, f := range c.Forges {
		list = append(list, f.Token.Secret, Secret{File: f.Token.Key})
	}
	return append(list, c.Reservation.Key)
}
