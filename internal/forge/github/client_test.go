package github

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

func TestAddresses(t *testing.T) {
	now, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string][2]string{
		"github.com":       {"https://api.github.com/", "/graphql"},
		"octo.ghe.com":     {"https://api.octo.ghe.com/", "/graphql"},
		"git.example":      {"https://git.example/api/v3/", "/api/graphql"},
		"git.example:8443": {"https://git.example:8443/api/v3/", "/api/graphql"},
	} {
		carrier, err := transport.New(transport.Options{API: want[0], Clock: now})
		if err != nil {
			t.Fatal(err)
		}
		for _, api := range []string{"", want[0], strings.TrimSuffix(want[0], "/")} {
			c, err := New(host, api, carrier)
			if err != nil || c.api.BaseURL() != want[0] || c.graphql != want[1] {
				t.Errorf("%s: %s %s, %v", host, c.api.BaseURL(), c.graphql, err)
			}
		}
	}
}
