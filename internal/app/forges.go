package app

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/forge/github"
	"github.com/oneslot/oneslot/internal/forge/gitlab"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/forge/transport/token"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/names"
	"github.com/oneslot/oneslot/internal/slot"
)

// forges are the clients of the configured forges.
type forges struct {
	at    map[string]names.Client // by canonical host
	names *names.Names
}

// forgesOf makes the clients. Nothing is asked yet. count is told of each request.
func (a *App) forgesOf(cfg *config.Config, count func(host string, status int, limited bool)) (forges, error) {
	all := forges{map[string]names.Client{}, a.Names}
	for _, f := range cfg.Forges {
		host := f.Host.V
		o := transport.Options{
			API: f.API.V, Clock: a.Clock,
			Count: func(status int, limited bool) { count(host, status, limited) },
		}
		var c names.Forge
		var err error
		if o.Token, err = a.tokenOf(cfg, f, o); err == nil {
			c, err = clientOf(cfg, f, o)
		}
		if err != nil {
			return forges{}, fmt.Errorf("%w: the forge %s: %w", slot.ErrConfig, host, err)
		}
		all.at[host] = a.Names.Client(host, c)
	}
	return all, nil
}

// keep takes the clients of forges that are configured as they were: they know what
// limits the forge has set, and have the tokens of Apps. Secrets are read when they are
// needed, in any case.
func (f forges) keep(cfg *config.Config, old forges, was *config.Config) {
	hook := func(h config.Hook) [3]string { return [3]string{h.Name.V, h.Forge.V, h.Host.V} }
	same := func(a, b config.Hook) bool { return hook(a) == hook(b) }
	if !slices.EqualFunc(cfg.Hooks, was.Hooks, same) { // a client knows them, too
		return
	}
	made := func(s config.Forge) [8]string {
		t := s.Token
		return [8]string{s.Host.V, s.Type.V, s.API.V, string(t.Form()), t.Secret.File.V, t.Secret.Env.V, t.AppID.V, t.Key.V}
	}
	for _, s := range cfg.Forges {
		if slices.ContainsFunc(was.Forges, func(w config.Forge) bool { return made(w) == made(s) }) {
			f.at[s.Host.V] = old.at[s.Host.V]
		}
	}
}

func clientOf(cfg *config.Config, f config.Forge, o transport.Options) (names.Forge, error) {
	if f.Type.V != "github" && f.Type.V != "gitlab" {
		o.Header = gitea.Header
	}
	t, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	switch f.Type.V {
	case "github":
		c, err := github.New(f.Host.V, f.API.V, t)
		if err == nil && hooksOn(cfg, f) {
			c.Hook = func(address string) bool { return ourHook(cfg, address) }
		}
		return c, err
	case "gitlab":
		return gitlab.New(f.Host.V, f.API.V, t)
	}
	return gitea.New(f.Host.V, f.API.V, t, f.Type.V)
}

// ourHook reports whether a webhook's address ends as that of one of ours: what
// comes before is for whoever set up the proxy.
func ourHook(cfg *config.Config, address string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.ContainsFunc(cfg.Hooks, func(h config.Hook) bool {
		return h.Forge.V == "github" && strings.HasSuffix(u.Path, hook.Prefix+h.Name.V)
	})
}

// tokenOf is the source of a forge's token; nil if it has none.
func (a *App) tokenOf(cfg *config.Config, f config.Forge, o transport.Options) (transport.TokenSource, error) {
	secret := func() (string, error) {
		value, _, err := cfg.ForgeSecret(f)
		return string(value), err
	}
	switch f.Token.Form() {
	case config.TokenSecret:
		return token.Plain(secret), nil
	case config.TokenApp:
		return token.NewApp(token.AppOptions{
			ID: f.Token.AppID.V, API: o.API, Clock: o.Clock, Count: o.Count,
			Key: func() ([]byte, error) { key, err := secret(); return []byte(key), err },
		})
	case config.TokenHelper:
		return token.Helper(f.Host.V, a.Clock), nil
	}
	return nil, nil
}

// forgeOf is the client of a ref's forge, if one is configured.
func (f forges) forgeOf(ref slot.Ref) (names.Client, bool) {
	n, ok := f.at[ref.Host()]
	return n, ok
}

// uncountedRequest is for whoever serves no metrics.
func uncountedRequest(string, int, bool) {}

// clients are the forges for a verb, which has no metrics; made once.
func (a *App) clients() (forges, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.verbs.at != nil {
		return a.verbs, nil
	}
	all, err := a.forgesOf(a.Config, uncountedRequest)
	if err == nil {
		a.verbs = all
	}
	return all, err
}
