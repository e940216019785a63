package token

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
)

// helperLimit bounds one call of gh or git: nobody is there to be asked.
const helperLimit = 10 * time.Second

// Helper gives the token that people have on this machine for a host ("github.com", with
// the port if it has one): that of gh, if gh is there and knows the host, else that of
// git's credential helpers. It is asked once, and again when the forge rejects it. No
// password is ever prompted for.
func Helper(host string, c clock.Clock) *HelperSource {
	return &HelperSource{newHeld(c, func(ctx context.Context) (string, time.Duration, error) {
		token, err := ask(ctx, host)
		return token, 0, err
	})}
}

// HelperSource is the source that Helper makes.
type HelperSource struct{ held *held }

// Token implements transport.TokenSource.
func (s *HelperSource) Token(ctx context.Context) (string, error) { return s.held.get(ctx, "") }

// Renew implements transport.TokenSource.
func (s *HelperSource) Renew(ctx context.Context, rejected string) (string, error) {
	return s.held.get(ctx, rejected)
}

func ask(ctx context.Context, host string) (string, error) {
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%q is no host", host)
	}
	out, err := run(ctx, "", "gh", "auth", "token", "--hostname="+host)
	if token := strings.TrimSpace(out); err == nil && token != "" {
		return token, nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	out, err = run(ctx, "protocol=https\nhost="+host+"\n\n", "git", "credential", "fill")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if password, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "password="); ok && password != "" {
			return password, nil
		}
	}
	return "", fmt.Errorf("neither gh nor git knows a token for %s", host)
}

// run calls a helper. What it wrote is in no error: it may be the token.
func run(ctx context.Context, stdin, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	// An askpass that is set and empty is none; a graphical one would wait for ever.
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
		"GH_PROMPT_DISABLED=1", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	switch what := name + " " + args[0] + " " + args[1]; {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s gave no answer in time: %w", what, context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not installed, or not in PATH", name)
	default:
		return "", fmt.Errorf("%s failed (%w): call it by hand to see why", what, err)
	}
}
