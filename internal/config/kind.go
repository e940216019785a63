package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/oneslot/oneslot/internal/slot"
)

// form is how a value is written in TOML.
type form int

const (
	aText form = iota
	aBool
	aNumber
	aList  // of texts
	aTexts // a list of texts, or one
	aWord  // a text, or a number for one
)

// kind is a kind of value: how it is written, what people are told of that, and
// how it is read.
type kind[T any] struct {
	form  form
	wants string
	read  func(given) (T, error)
}

// set is the row of a key that sets one field.
func set[T any](name string, k kind[T], field func(*Config) *Value[T]) row {
	return row{name: name, form: k.form, wants: k.wants,
		take: func(c *Config, g given) error {
			v, err := k.read(g)
			*field(c) = Value[T]{v, g.origin}
			return err
		},
		mark: func(c *Config, at Origin) { field(c).Origin = at },
	}
}

// but narrows a kind.
func (k kind[T]) but(check func(T) error) kind[T] {
	read := k.read
	k.read = func(g given) (T, error) {
		v, err := read(g)
		if err == nil {
			err = check(v)
		}
		return v, err
	}
	return k
}

// parsed is a text that one function reads.
func parsed[T any](wants string, parse func(string) (T, error)) kind[T] {
	return kind[T]{aText, wants, func(g given) (T, error) { return parse(g.text) }}
}

func span() kind[time.Duration] {
	return parsed(`a duration in quotes, such as "7d"`, ParseDuration)
}

func duration() kind[time.Duration] { return span().but(moreThanZero[time.Duration]) }

// from is a duration of something that would hurt if it were shorter.
func from(least time.Duration) kind[time.Duration] {
	return span().but(func(d time.Duration) error {
		if d < least {
			return errors.New("must be at least " + slot.Span(least))
		}
		return nil
	})
}

func atMost(most time.Duration) func(time.Duration) error {
	return func(d time.Duration) error {
		if d > most {
			return errors.New("must be at most " + slot.Span(most))
		}
		return nil
	}
}

// orOff is a duration that is not shorter than least, or "off", which is zero.
func orOff(least time.Duration) kind[time.Duration] {
	long := from(least)
	return kind[time.Duration]{aText, `a duration in quotes, such as "7d", or "off"`, func(g given) (time.Duration, error) {
		if g.text == "off" {
			return 0, nil
		}
		return long.read(g)
	}}
}

func bytesize() kind[int64] {
	return parsed(`a size in quotes, such as "50MB"`, parseBytes).but(moreThanZero[int64])
}

func moreThanZero[T time.Duration | int64](n T) error {
	if n <= 0 {
		return errors.New("must be more than zero")
	}
	return nil
}

// line is a text of one line.
func line() kind[string] {
	return parsed("a text in quotes", func(s string) (string, error) { return s, checkName(s) })
}

// pathSafe is a name that may stand in an address, a file name and a log.
func pathSafe() kind[string] {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return line().but(func(s string) error {
		if strings.Trim(s, safe) != "" || len(s) > 63 || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "-") {
			return errors.New(`takes up to 63 letters, digits, "-", "_" and "."; the first is a letter, a digit or "_"`)
		}
		return nil
	})
}

// appID is the id of a GitHub App, which is a number, or its client id.
func appID() kind[string] {
	k := pathSafe()
	k.form, k.wants = aWord, `an app's id, or its client id in quotes`
	return k.but(func(s string) error {
		if strings.Trim(s, "0") == "" {
			return errors.New("must be more than zero")
		}
		return nil
	})
}

// choice is one of some words; those of later versions are known.
func choice(words, later []string) kind[string] {
	return parsed("a text in quotes", func(s string) (string, error) { return s, choose(s, words, later) })
}

func choose(s string, words, later []string) error {
	switch {
	case slices.Contains(words, s):
		return nil
	case slices.Contains(later, s):
		return fmt.Errorf("%q is not in this version", s)
	}
	if meant := nearest(s, names(slices.Concat(words, later)...)); meant != "" {
		return fmt.Errorf("%s is not known; did you mean %s?", quote(s), meant)
	}
	return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
}

// hostname is a forge's host, in canonical form.
func hostname() kind[string] { return parsed("a host in quotes", canonicalHost) }

// file is the path of a file; a relative one counts from where it was given.
func file() kind[string] {
	return kind[string]{aText, "a path in quotes", func(g given) (string, error) {
		if g.text == "" || strings.ContainsFunc(g.text, unicode.IsControl) {
			return "", errors.New("not the path of a file")
		}
		if filepath.IsAbs(g.text) {
			return filepath.Clean(g.text), nil
		}
		dir, err := g.dir()
		if err != nil {
			return "", fmt.Errorf("is relative, and to what could not be found out: %w", err)
		}
		return filepath.Join(dir, g.text), nil
	}}
}

func boolean() kind[bool] {
	return kind[bool]{aBool, "true or false", func(g given) (bool, error) { return g.text == "true", nil }}
}

func integer(least, most int64) kind[int64] {
	return kind[int64]{aNumber, "a whole number without quotes", func(g given) (int64, error) {
		n, err := strconv.ParseInt(g.text, 0, 64)
		if err != nil || n < least || n > most {
			if most == math.MaxInt64 {
				return least, fmt.Errorf("must be a whole number from %d", least)
			}
			return least, fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		return n, nil
	}}
}

// texts is a list of texts, none of them empty, each of which must pass.
func texts(check func(string) error) kind[[]string] {
	return kind[[]string]{aList, `a list of texts, such as ["a"]`, func(g given) ([]string, error) {
		for _, s := range g.list {
			err := check(s)
			if err == nil && s == "" {
				err = errors.New("empty")
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", quote(s), err)
			}
		}
		return g.list, nil
	}}
}

// folded is a list of words that compare without case.
func folded(check func(string) error) kind[[]string] {
	k := texts(check)
	read := k.read
	k.read = func(g given) ([]string, error) {
		list, err := read(g)
		lower := make([]string, len(list))
		for i, s := range list {
			lower[i] = strings.ToLower(s)
		}
		return lower, err
	}
	return k
}

// argv is a command with its arguments, which may hold placeholders. A command with
// a relative path counts from where it was given, others are looked up in PATH.
func argv() kind[[]string] {
	return kind[[]string]{aList, `a command as a list of texts, such as ["./fix.sh", "{number}"]`, func(g given) ([]string, error) {
		if len(g.list) == 0 || g.list[0] == "" {
			return nil, errors.New("needs a command")
		}
		for _, s := range g.list {
			if strings.ContainsRune(s, 0) {
				return nil, fmt.Errorf("%s: a NUL byte has no place in an argument", quote(s))
			}
			if err := checkPlaceholders(s); err != nil {
				return nil, err
			}
		}
		command := g.list[0]
		if strings.ContainsAny(command, "{}") {
			return nil, errors.New("the command itself takes no placeholders, only its arguments do")
		}
		if strings.Contains(command, "/") {
			g.text = command
			path, err := file().read(g)
			if err != nil {
				return nil, err
			}
			g.list = slices.Concat([]string{path}, g.list[1:])
		}
		return g.list, nil
	}}
}
