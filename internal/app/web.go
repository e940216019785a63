package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/slot"
)

// web is the HTTP server around a handler. Bodies have times of their own.
func (s *server) web(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ConnContext: api.ConnContext,
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
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
	desk := newDesk(s.Queue, s.Names, s.slot, s.live.Current)
	mux := http.NewServeMux()
	mux.Handle(hook.Prefix, hook.New(hook.Options{
		Hook: s.hook, Sink: telling{desk, s.feed}, SpoolDir: s.spool(), Now: s.Clock.Wall, Log: s.Log, Metrics: s.metrics,
	}))
	mux.Handle("/", api.New(api.Options{
		Claims: s.Store, Queue: s.Queue, Broker: broker{s.App, desk, s.Log},
		Grammar: func() slot.Grammar { return s.live.Current().Grammar(nil) }, Tokens: func() []api.Token { return *s.tokens.Load() },
		Names: s.named,
		Boot:  s.Clock.BootID(), UID: os.Geteuid(), Sight: Sight{}, Open: s.Config.Local(),
		Version: s.Version, Metrics: s.metrics, Renewed: s.metrics.Renewed, Log: s.Log, Feed: s.feed,
		Ready: s.ready,
	}))
	return mux, nil
}

// roomLeast is how much space the disk of the store must have.
const roomLeast = 4 << 20

// ready reports whether wishes can be taken: the store answers, and its disk has
// room.
func (s *server) ready(ctx context.Context) error {
	if _, err := s.Queue.NextDue(ctx, nil, nil); err != nil {
		return err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(s.Store.Dir(), &st); err != nil {
		return fmt.Errorf("%w: the disk of the store: %w", slot.ErrUnknown, err)
	}
	if free := uint64(st.Bavail) * uint64(st.Bsize); free < roomLeast {
		return fmt.Errorf("%w: the disk of the store is full: %d bytes left", slot.ErrUnknown, free)
	}
	return nil
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

// tokensOf reads the tokens of a configuration.
func tokensOf(cfg *config.Config) ([]api.Token, error) {
	var list []api.Token
	for _, t := range cfg.Tokens {
		secret, _, err := cfg.ReadSecret(t.Secret)
		if err != nil {
			return nil, err
		}
		role, _ := api.ParseRole(t.Role.V) // the configuration was checked
		list = append(list, api.NewToken(t.Name.V, role, secret))
	}
	return list, nil
}

// newAdmin makes the administrator's token, which lies beside the store.
func newAdmin(dir string) (api.Token, error) {
	random := make([]byte, 32)
	rand.Read(random)
	admin := base64.RawURLEncoding.EncodeToString(random)
	path := filepath.Join(dir, "admin.token")
	if err := os.WriteFile(path+".new", []byte(admin+"\n"), 0o600); err != nil {
		return api.Token{}, err
	}
	return api.NewToken("admin.token", api.Admin, []byte(admin)), os.Rename(path+".new", path)
}
