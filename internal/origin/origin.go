package origin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// limit bounds each call of git, which only has to read a file or two.
const limit = 5 * time.Second

// Remote returns the address of the remote "origin" of the repository that dir
// lies in; "" is the working directory. GIT_DIR and its like count as they do
// for git itself. The address is as configured, without url.*.insteadOf: that
// tells how to reach a repository, not which one it is. It may hold a password.
//
// The error says which is missing: git, the folder, a repository or its origin.
// It matches slot.ErrUnknown if git gave no answer in time, and never repeats
// an address.
func Remote(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	// Of several addresses git fetches from the first.
	out, err := git(ctx, dir, "config", "--null", "--get-all", "remote.origin.url")
	if err == nil {
		address, _, _ := strings.Cut(out, "\x00")
		if address == "" {
			return "", errors.New("the remote origin has an empty address")
		}
		return address, nil
	}
	if code := new(exitError); !errors.As(err, &code) || code.status != 1 {
		return "", err
	}
	// No such key: because there is no origin, or no repository to have one.
	if _, err := git(ctx, dir, "rev-parse", "--git-dir"); err != nil {
		return "", err
	}
	return "", fmt.Errorf("the git repository %s has no remote named origin", place(dir))
}

// exitError is an answer of git's own.
type exitError struct {
	status int
	says   string
}

func (e *exitError) Error() string {
	if e.says == "" {
		return fmt.Sprintf("git ended with status %d", e.status)
	}
	return "git says: " + e.says
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr

	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", &slot.UnknownError{Op: "read the origin remote", Store: "git", Err: context.Cause(ctx)}
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed, or not in PATH")
	case errors.As(err, &exit):
		says, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return "", &exitError{exit.ExitCode(), strings.TrimPrefix(says, "fatal: ")}
	}
	if _, bad := os.Stat(place(dir)); bad != nil {
		err = bad
	}
	return "", fmt.Errorf("cannot run git: %w", err)
}

func place(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
