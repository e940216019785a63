package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

// AppOptions are of a GitHub App.
type AppOptions struct {
	ID    string                 // the app's id, or its client id
	Key   func() ([]byte, error) // its private key as PEM, read when it is needed
	API   string                 // as transport.Options
	Clock clock.Clock
	Count func(status int, limited bool) // as transport.Options
}

// App gives the tokens of a GitHub App: one for each installation, made anew before it
// ends (after an hour) and when it is rejected. The installation is the one of the
// owner that a request is about, and without an owner the only one there is.
type App struct {
	o   AppOptions
	api *transport.Transport

	mu     sync.Mutex
	owners map[string]int64 // lower case; as last listed
	listed time.Duration    // boot time
	tokens map[int64]*held
}

// NewApp makes the source. Nothing is read or asked yet.
func NewApp(o AppOptions) (*App, error) {
	if o.ID == "" || o.Key == nil {
		return nil, errors.New("a GitHub App needs its id and its private key")
	}
	a := &App{o: o, tokens: map[int64]*held{}}
	var err error
	a.api, err = transport.New(transport.Options{API: o.API, Clock: o.Clock, Count: o.Count,
		Token: Plain(a.jwt)})
	return a, err
}

func (a *App) jwt() (string, error) {
	key, err := a.o.Key()
	if err != nil {
		return "", err
	}
	return sign(a.o.ID, key, a.o.Clock.Wall())
}

// Token implements transport.TokenSource.
func (a *App) Token(ctx context.Context) (string, error) { return a.get(ctx, "") }

// Renew implements transport.TokenSource.
func (a *App) Renew(ctx context.Context, rejected string) (string, error) {
	return a.get(ctx, rejected)
}

func (a *App) get(ctx context.Context, rejected string) (string, error) {
	id, err := a.installation(ctx, ownerOf(ctx))
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	h := a.tokens[id]
	if h == nil {
		h = newHeld(a.o.Clock, func(ctx context.Context) (string, time.Duration, error) { return a.mint(ctx, id) })
		a.tokens[id] = h
	}
	a.mu.Unlock()
	token, err := h.get(ctx, rejected)
	if errors.Is(err, forge.ErrNotFound) {
		a.forget() // it was removed, and may be back under another id
	}
	return token, err
}

// ownerOf is whom a request is about: as it was said, or by its path.
func ownerOf(ctx context.Context) string {
	if owner := transport.Owner(ctx); owner != "" {
		return owner
	}
	for _, part := range []string{"/repos/", "/orgs/", "/users/"} {
		if _, rest, ok := strings.Cut(transport.Path(ctx), part); ok {
			owner, _, _ := strings.Cut(rest, "/")
			return owner
		}
	}
	return ""
}

// mint makes a token. How long it lasts is counted by the forge's own clock.
func (a *App) mint(ctx context.Context, id int64) (string, time.Duration, error) {
	var made struct {
		Token string    `json:"token"`
		Ends  time.Time `json:"expires_at"`
	}
	op := fmt.Sprintf("make a token for installation %d of the app", id)
	at, err := a.call(ctx, op, http.MethodPost, fmt.Sprintf("/app/installations/%d/access_tokens", id), &made)
	if err != nil {
		return "", 0, err
	}
	if made.Token == "" || !made.Ends.After(at) {
		return "", 0, &forge.Error{Op: op, Detail: "the forge's answer has no token, or one that is over"}
	}
	return made.Token, made.Ends.Sub(at), nil
}

// call asks the forge as the app itself, and tells the forge's clock.
func (a *App) call(ctx context.Context, op, method, path string, into any) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.api.API()+path, nil)
	if err != nil {
		return time.Time{}, transport.Error(op, err, nil)
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "oneslot")
	resp, err := a.api.Client().Do(req)
	if err != nil {
		return time.Time{}, transport.Error(op, err, nil)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		return time.Time{}, transport.Error(op, errors.New(resp.Status), resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return time.Time{}, &forge.Error{Op: op, Detail: "the forge's answer cannot be read"} // it has a token in it
	}
	at, ok := transport.Date(resp.Header)
	if !ok {
		at = a.o.Clock.Wall()
	}
	return at, nil
}
