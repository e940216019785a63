package github

import (
	"testing"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

// The contract of every client, over GitHub's face.
func TestContract(t *testing.T) {
	system, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	forgetest.Run(t, forgetest.GitHub, func(t testing.TB, api, token string) forge.Client {
		c := newClient(t, api, token, system)
		c.Hook = func(address string) bool { return address == forgetest.GitHubHook }
		return c
	})
}
