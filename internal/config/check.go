package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

func checkPlaceholders(s string) error {
	if err := slot.CheckExpand(s); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), slot.ErrUsage.Error()+": "))
	}
	return nil
}

func checkAssociation(s string) error {
	return choose(strings.ToLower(s), []string{"owner", "member", "collaborator", "contributor", "first_time_contributor", "first_timer", "mannequin", "none"}, nil)
}

func checkCommand(s string) error {
	if err := checkName(s); err != nil {
		return err
	}
	if strings.ContainsAny(s, " \t") {
		return errors.New("is more than one word")
	}
	return nil
}

func checkVariable(s string) error {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || s == "" || s[0] >= '0' && s[0] <= '9' {
		return errors.New("not the name of an environment variable")
	}
	return nil
}

func checkGlob(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return errors.New(`not a pattern: a "[" without its "]", or a "\" at the end`)
	}
	return checkName(s)
}

// checkBranches takes what internal/rule understands of GitHub's patterns.
func checkBranches(s string) error {
	if strings.ContainsAny(s, `[]\`) || strings.HasPrefix(s, "!") {
		return errors.New(`a pattern of branches knows "*", "**" and "?"`)
	}
	return checkName(s)
}

// patterns are regular expressions, as Go has them (RE2): no text makes one of them
// slow.
func patterns() kind[[]string] {
	k := texts(func(s string) error {
		_, err := regexp.Compile(s)
		var se *syntax.Error
		if errors.As(err, &se) { // not the whole of it, which repeats the text
			err = errors.New("not a regular expression: " + se.Code.String())
		}
		if err != nil {
			return err
		}
		return checkName(s)
	})
	k.form, k.wants = aTexts, `a regular expression in quotes, or a list of them`
	return k
}

func checkUnit(s string) error {
	if err := checkGlob(s); err != nil {
		return err
	}
	return checkPlaceholders(s)
}

func checkHoldUnit(s string) error {
	switch {
	case strings.ContainsAny(s, "*?[]\\/ "):
		return errors.New("is the name of one unit, without wildcards and slashes")
	case !strings.HasSuffix(s, ".service"):
		return errors.New(`must end in ".service"`)
	case !strings.Contains(s, "{slug}") && !strings.Contains(s, "{dashed}") && !strings.Contains(s, "{number}"):
		return errors.New("needs {dashed} or {slug}: one unit for all refs would let one run at a time")
	}
	return checkPlaceholders(s)
}

func checkURL(s string) error {
	if err := checkPlaceholders(s); err != nil {
		return err
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("not a web address")
	case u.User != nil:
		return errors.New("has no place for a password or a user")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "{"):
		return errors.New("must be http://HOST/PATH or https://HOST/PATH, without placeholders in HOST")
	}
	return nil
}

func checkZone(s string) error {
	if _, err := time.LoadLocation(s); err != nil {
		return errors.New("no such time zone; they are named as in Europe/Berlin")
	}
	return nil
}

func parseOnError(s string) (OnError, error) {
	limit, bounded := strings.CutPrefix(s, "closed-for ")
	switch {
	case s == "open":
		return OnError{}, nil
	case s == "closed":
		return OnError{Closed: true}, nil
	case bounded:
		d, err := ParseDuration(limit)
		if err == nil {
			err = moreThanZero(d)
		}
		if err != nil {
			return OnError{}, fmt.Errorf("closed-for: %w", err)
		}
		return OnError{Closed: true, For: d}, nil
	}
	return OnError{}, errors.New(`must be "open", "closed" or "closed-for" with a duration, as in "closed-for 10m"`)
}
