package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/intake/hook"
)

// web is the HTTP server around a handler. Bodies have times of their own.
func (s *server) web(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ConnContext: api.ConnContext,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}

// handler serves webhooks and the API.
func (s *server) handler() (http.Handler, error) {
	if err := os.MkdirAll(s.spool(), 0o700); err != nil {
		return nil, err
	}
	if err := hook.Tidy(s.spool()); err != nil {
		return nil, err
	}
	desk := newDesk(s.Queue, s.live.Current)
	tokens, err := s.tokens()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(hook.Prefix, hook.New(hook.Options{
		Hook: s.hook, Sink: telling{desk, s.feed}, SpoolDir: s.spool(), Now: s.Clock.Wall, Log: s.Log, Metrics: s.metrics,
	}))
	mux.Handle("/", api.New(api.Options{
		Claims: s.Store, Queue: s.Queue, Broker: broker{s.App, desk, s.Log}, Grammar: s.Config.Grammar(nil),
		Boot: s.Clock.BootID(), UID: os.Geteuid(), Sight: Sight{}, Tokens: tokens, Open: s.Config.Local(),
		Version: s.Version, Metrics: s.metrics, Log: s.Log, Feed: s.feed,
		Ready: func(ctx context.Context) error {
			_, err := s.Queue.NextDue(ctx, nil)
			return err
		},
	}))
	return mux, nil
}

// telling is a sink that tells of what it took.
type telling struct {
	hook.Sink
	feed *api.Feed
}

// Accept implements hook.Sink.
func (t telling) Accept(ctx context.Context, p hook.Parsed) ([]hook.Result, error) {
	results, err := t.Sink.Accept(ctx, p)
	for i, r := range results {
		if r.ID != "" {
			t.feed.Tell("work", p.Events[i].Ref.String())
		}
	}
	return results, err
}

// hook finds a configured hook.
func (s *server) hook(name string) (hook.Hook, bool) {
	h, ok := (*s.hooks.Load())[name]
	return h, ok
}

// hooksOf reads the hooks of a configuration, with their secrets.
func hooksOf(cfg *config.Config) (map[string]hook.Hook, error) {
	hooks := map[string]hook.Hook{}
	for _, h := range cfg.Hooks {
		secret, _, err := cfg.HookSecret(h)
		if err != nil {
			return nil, err
		}
		sealed := unsealed(cfg, h)
		sealed.Secret = secret
		hooks[h.Name.V] = sealed
	}
	return hooks, nil
}

// tokens are those of the configuration and of the environment, and the one of the
// administrator, which is made anew with each start and lies beside the store.
func (s *server) tokens() ([]api.Token, error) {
	var list []api.Token
	for _, t := range s.Config.Tokens {
		secret, _, err := s.Config.ReadSecret(t.Secret)
		if err != nil {
			return nil, err
		}
		role, _ := api.ParseRole(t.Role.V) // the configuration was checked
		list = append(list, api.NewToken(t.Name.V, role, secret))
	}
	random := make([]byte, 32)
	rand.Read(random)
	admin := base64.RawURLEncoding.EncodeToString(random)
	path := filepath.Join(s.Store.Dir(), "admin.token")
	if err := os.WriteFile(path+".new", []byte(admin+"\n"), 0o600); err != nil {
		return nil, err
	}
	return append(list, api.NewToken("admin.token", api.Admin, []byte(admin))), os.Rename(path+".new", path)
}
