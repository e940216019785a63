package gitea_test

import (
	"context"
	"testing"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

// token is a token that cannot be renewed.
type token string

func (t token) Token(context.Context) (string, error)         { return string(t), nil }
func (t token) Renew(context.Context, string) (string, error) { return "", nil }

func connect(t testing.TB, kind, api, secret string) *gitea.Client {
	t.Helper()
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := transport.New(transport.Options{API: api, Token: token(secret), Header: gitea.Header, Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	c, err := gitea.New(forgetest.Host(api), api, tr, kind)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContract(t *testing.T) {
	for _, kind := range []forgetest.Kind{forgetest.Gitea, forgetest.Forgejo, forgetest.Gogs} {
		t.Run(string(kind), func(t *testing.T) {
			forgetest.Run(t, kind, func(t testing.TB, api, secret string) forge.Client {
				return connect(t, string(kind), api, secret)
			})
		})
	}
}
