package race

import (
	"os"
	"path/filepath"
	"strings"
)

// laterMain is a worker that always asks for another time.
func laterMain() error {
	return os.WriteFile(os.Getenv("ONESLOT_RESULT"), []byte(`{"outcome": "later", "retry_after": "50ms"}`), 0o600)
}

// waitingMain is a worker that needs a person.
func waitingMain() error {
	return os.WriteFile(os.Getenv("ONESLOT_RESULT"), []byte(`{"outcome": "waiting"}`), 0o600)
}

// keepMain is a worker that keeps what it was given.
func keepMain() error {
	data, err := os.ReadFile(os.Getenv("ONESLOT_EVENTS"))
	if err != nil {
		return err
	}
	dir := filepath.Join(os.Getenv(worldVar), "kept", os.Getenv("ONESLOT_SLUG"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "environ"), []byte(strings.Join(os.Environ(), "\n")), 0o600); err != nil {
		return err
	}
	// The last, and whole: whoever sees it sees all.
	if err := os.WriteFile(filepath.Join(dir, "new"), data, 0o600); err != nil {
		return err
	}
	return os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "events"))
}
