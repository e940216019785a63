package config

import (
	"bytes"
	"encoding/pem"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// forgeTypes are the forges that oneslot can name.
func forgeTypes() []string { return []string{"github", "forgejo", "gitea", "gogs", "gitlab"} }

// Forge is one configured forge.
type Forge struct {
	Host Value[string] // canonical
	Type Value[string] // one of forgeTypes
	// API is the address that the forge's library wants, without a slash at its end:
	// of GitHub that of the API itself, of the others that of the whole site.
	API   Value[string]
	Token ForgeToken
	// Repos are globs of repositories without the host, in lower case. "*" ends at a
	// slash.
	Repos Value[[]string]
	// Poll is the time between looks; at least 5s, or zero for never.
	Poll Value[time.Duration]

	origin Origin
}

// pollMin bounds how often a forge is looked at: more would only meet its limits.
const pollMin = 5 * time.Second

func newForge(at Origin) Forge { return Forge{Poll: byDefault(time.Duration(0)), origin: at} }

// TokenForm is a way to have a forge's token.
type TokenForm string

// The forms of tokens.
const (
	TokenNone   TokenForm = ""       // what everybody may read
	TokenSecret TokenForm = "secret" // it stands in a file or a variable
	TokenApp    TokenForm = "app"    // minted with the key of a GitHub App
	TokenHelper TokenForm = "helper" // asked of gh or of git's credential helpers
)

// ForgeToken is where a forge's token comes from: one form, or none.
type ForgeToken struct {
	Secret Secret
	AppID  Value[string] // of a GitHub App, or its client id
	Key    Value[string] // absolute path of its private key, as PEM
	Helper Value[bool]
}

// Form is the one that is set.
func (t ForgeToken) Form() TokenForm {
	switch {
	case t.Secret.IsSet():
		return TokenSecret
	case t.AppID.V != "":
		return TokenApp
	case t.Helper.V:
		return TokenHelper
	}
	return TokenNone
}

// String says where the token comes from, and never what it is.
func (t ForgeToken) String() string {
	switch t.Form() {
	case TokenApp:
		return "GitHub App " + t.AppID.V
	case TokenHelper:
		return "credential helper"
	}
	return t.Secret.String()
}

// ForgeOf is the forge of a canonical host.
func (c *Config) ForgeOf(host string) (Forge, bool) {
	i := slices.IndexFunc(c.Forges, func(f Forge) bool { return f.Host.V == host })
	if i < 0 {
		return Forge{}, false
	}
	return c.Forges[i], true
}

// ForgeSecret reads what stands in a file or a variable for a forge: with TokenSecret
// the token, with TokenApp the private key as PEM. With the other forms there is
// nothing to read, and value is nil. Warnings and the error, a *Problems, never show
// it.
func (c *Config) ForgeSecret(f Forge) (value []byte, warnings []string, err error) {
	switch f.Token.Form() {
	case TokenSecret:
		value, warnings, err = c.ReadSecret(f.Token.Secret)
		if foreign := func(r rune) bool { return r <= ' ' || r >= 0x7f }; err == nil && bytes.ContainsFunc(value, foreign) {
			err = Refuse(f.Token.Secret.origin(), "%s: white space, or a character that no token has", f.Token.Secret)
		}
	case TokenApp:
		at := Secret{File: f.Token.Key}
		value, warnings, err = c.readPlace(at)
		if block, _ := pem.Decode(value); err == nil && (block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY")) {
			err = errors.New("not a private key as PEM")
		}
		if err != nil {
			err = Refuse(f.Token.Key.Origin, "%s: %v", at, err)
		}
	}
	if err != nil {
		return nil, warnings, err
	}
	return value, warnings, nil
}

// defaultAPI is where a forge's library looks for the API of a host.
func defaultAPI(kind, host string) string {
	switch {
	case kind != "github":
		return "https://" + host
	case host == "github.com" || strings.HasSuffix(host, ".ghe.com"): // with data residency
		return "https://api." + host
	}
	return "https://" + host + "/api/v3" // GitHub Enterprise Server
}

func (f Forge) entries(key string) []Entry {
	list := []Entry{
		show(key+"host", f.Host, text),
		show(key+"type", f.Type, text),
		show(key+"api", f.API, text),
	}
	switch f.Token.Form() {
	case TokenNone:
		list = append(list, Entry{Key: key + "token", Value: "none"})
	case TokenSecret:
		list = append(list, f.Token.Secret.entry(key+"token."))
	case TokenApp:
		list = append(list, show(key+"token.app_id", f.Token.AppID, text), show(key+"token.key", f.Token.Key, text))
	case TokenHelper:
		list = append(list, show(key+"token.helper", f.Token.Helper, strconv.FormatBool))
	}
	return append(list, show(key+"repos", f.Repos, quoted), show(key+"poll", f.Poll, formatOff))
}
