package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oneslot/oneslot/internal/config"
)

// C61: the variables that hold the coordinator's secrets are known, whatever they
// are for.
func TestC61_SecretVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	text := `
api.tokens = [{name = "a", role = "read", env = "API"}, {name = "b", role = "read", file = "b"}]
hook = [{name = "h", forge = "github", host = "github.com", secret.env = "HOOK"}]
forge = [{host = "github.com", type = "github", token.env = "FORGE"}, {host = "a.example.org", type = "gitea", token.file = "f"}]
reservation.key.env = "RESERVATION"
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src := config.System()
	src.ConfigFlag = file
	cfg, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ONESLOT_STORE", "ONESLOT_CLAIMS", "ONESLOT_API_TOKEN", "HOOK", "API", "FORGE", "RESERVATION"}
	if got := Secrets(cfg); !slices.Equal(got, want) {
		t.Error(got)
	}
}
