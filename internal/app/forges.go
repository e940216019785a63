package app

import (
	"context"
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
	"github.com/oneslot/oneslot/internal/slot"
)

// forges are the clients of the configured forges, by their canonical hosts.
type forges map[string]named

// forgesOf makes the clients. Nothing is asked yet. count is told of each request.
func (a *App) forgesOf(cfg *config.Config, count func(host string, status int, limited bool)) (forges, error) {
	all := forges{}
	for _, f := range cfg.Forges {
		host := f.Host.V
		o := transport.Options{
			API: f.API.V, Clock: a.Clock,
			Count: func(status int, limited bool) { count(host, status, limited) },
		}
		var c client
		var err error
		if o.Token, err = a.tokenOf(cfg, f, o); err == nil {
			c, err = clientOf(cfg, f, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: the forge %s: %w", slot.ErrConfig, host, err)
		}
		all[host] = named{client: c, names: a.Names, host: host}
	}
	return all, nil
}

func clientOf(cfg *config.Config, f config.Forge, o transport.Options) (client, error) {
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
func (f forges) forgeOf(ref slot.Ref) (named, bool) {
	n, ok := f[ref.Host()]
	return n, ok
}

// uncountedRequest is for whoever serves no metrics.
func uncountedRequest(string, int, bool) {}

// Slots are the slots of refs that may be written with any name that their
// repositories ever had.
func (a *App) Slots(ctx context.Context, refs []slot.Ref) ([]slot.Ref, error) {
	list := make([]slot.Ref, len(refs))
	for i, ref := range refs {
		var err error
		if list[i], err = a.Names.Canonical(ctx, ref); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Ref reads a ref that somebody wrote, and gives its slot.
func (a *App) Ref(ctx context.Context, word string) (slot.Ref, error) {
	ref, err := slot.ParseRef(word, a.Grammar(ctx))
	if err != nil {
		return ref, err
	}
	return a.Names.Canonical(ctx, ref)
}
