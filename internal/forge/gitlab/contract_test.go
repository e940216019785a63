package gitlab_test

import (
	"testing"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitlab"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/forge/transport/token"
)

func connect(t testing.TB, api, secret string) forge.Client {
	t.Helper()
	c, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := transport.New(transport.Options{API: api, Clock: c, Token: token.Plain(func() (string, error) { return secret, nil })})
	if err != nil {
		t.Fatal(err)
	}
	client, err := gitlab.New(forgetest.Host(api), api, tr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Client().CloseIdleConnections)
	return client
}

func TestContract(t *testing.T) { forgetest.Run(t, forgetest.GitLab, connect) }
