package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// write does something to a thread. A thread that was renamed or moved answers 307, 404
// or 410, and nothing was done (the transport follows no write): it is looked for, and
// where it is now it is done. seen is the thread, if it was looked for and can be seen.
func (c *Client) write(ctx context.Context, ref slot.Ref, do func(ctx context.Context, path string, number int) (*github.Response, error)) (seen *forge.Thread, err error) {
	at, path, err := c.at(ctx, ref.Repo())
	if err != nil {
		return nil, err
	}
	resp, err := do(at, path, ref.Number())
	if err == nil || !elsewhere(resp) {
		return nil, err
	}
	_, t, lost := c.issue(ctx, "find "+ref.String(), ref)
	if lost != nil {
		return nil, err
	}
	if t.Ref == ref {
		return &t, err
	}
	if at, path, err = c.at(ctx, t.Ref.Repo()); err == nil {
		_, err = do(at, path, t.Ref.Number())
	}
	return &t, err
}

// elsewhere: the request did nothing, and its object may be elsewhere.
func elsewhere(resp *github.Response) bool {
	switch status(resp) {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
		http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// locked: what a locked conversation answers is a refusal, no missing right (403,
// "Unable to create comment because issue is locked").
func locked(err error) error {
	if e := new(forge.Error); errors.As(err, &e) && e.Kind == forge.ErrForbidden && strings.Contains(e.Detail, "locked") {
		e.Kind = forge.ErrRefused
	}
	return err
}

// AddLabel implements forge.Writer. GitHub makes a label that is missing.
func (c *Client) AddLabel(ctx context.Context, ref slot.Ref, label string) error {
	op := fmt.Sprintf("label %s with %q", ref, label)
	_, err := c.write(ctx, ref, func(ctx context.Context, path string, number int) (*github.Response, error) {
		return c.do(ctx, op, http.MethodPost, fmt.Sprintf("%s/issues/%d/labels", path, number), []string{label}, nil)
	})
	return err
}

// RemoveLabel implements forge.Writer. A 404 alone does not tell that the label is not
// set: the thread must be there to be seen, without it.
func (c *Client) RemoveLabel(ctx context.Context, ref slot.Ref, label string) error {
	op := fmt.Sprintf("take the label %q from %s", label, ref)
	seen, err := c.write(ctx, ref, func(ctx context.Context, path string, number int) (*github.Response, error) {
		// The library does not escape the label.
		return c.do(ctx, op, http.MethodDelete, fmt.Sprintf("%s/issues/%d/labels/%s", path, number, url.PathEscape(label)), nil, nil)
	})
	if seen == nil || !errors.Is(err, forge.ErrNotFound) {
		return err
	}
	if slices.ContainsFunc(seen.Labels, func(l string) bool { return strings.EqualFold(l, label) }) {
		return err
	}
	return nil
}

// Lock implements forge.Writer; GitHub answers 204 each time.
func (c *Client) Lock(ctx context.Context, ref slot.Ref) error {
	return c.lock(ctx, ref, http.MethodPut, "lock ")
}

// Unlock implements forge.Writer; GitHub answers 204 each time.
func (c *Client) Unlock(ctx context.Context, ref slot.Ref) error {
	return c.lock(ctx, ref, http.MethodDelete, "unlock ")
}

func (c *Client) lock(ctx context.Context, ref slot.Ref, method, verb string) error {
	_, err := c.write(ctx, ref, func(ctx context.Context, path string, number int) (*github.Response, error) {
		return c.do(ctx, verb+ref.String(), method, fmt.Sprintf("%s/issues/%d/lock", path, number), nil, nil)
	})
	return err
}
