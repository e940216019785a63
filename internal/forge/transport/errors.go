package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/oneslot/oneslot/internal/forge"
)

// maxDetail bounds what is told of a forge's message, in bytes.
const maxDetail = 300

// Error makes a failure of a forge's library one of ours: a *forge.Error, or nil if err
// is nil. op says what was tried, for people; resp is the answer, if there was one.
func Error(op string, err error, resp *http.Response) error {
	if err == nil {
		return nil
	}
	e := &forge.Error{Op: op, Err: err}
	limit, inner := new(forge.LimitError), new(forge.Error)
	switch {
	case errors.As(err, &limit):
		e.Kind, e.Detail = forge.ErrLimited, "nothing is asked before "+limit.Until.UTC().Format("15:04:05 MST on 2006-01-02")
		return e
	case errors.As(err, &inner):
		e.Kind, e.Status, e.Detail = inner.Kind, inner.Status, inner.Detail
	case resp != nil && resp.StatusCode >= 300:
		e.Detail = message(failure(resp))
	}
	if resp != nil && resp.StatusCode >= 300 {
		e.Status = resp.StatusCode
		if e.Kind == nil {
			e.Kind = kind(resp.StatusCode)
		}
	}
	if e.Detail == "" {
		e.Detail = line(cause(err).Error())
	}
	return e
}

// kind is what a status means, wherever it comes from.
func kind(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return forge.ErrUnauthorized
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return forge.ErrForbidden
	case http.StatusNotFound, http.StatusGone:
		return forge.ErrNotFound
	case http.StatusTooManyRequests:
		return forge.ErrLimited
	case http.StatusRequestTimeout:
		return nil
	}
	if status >= 400 && status < 500 {
		return forge.ErrRefused
	}
	return nil
}

// cause leaves out the address that an http.Client adds.
func cause(err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// message is what a forge's error says: {"message": text}, with GitHub's "errors" or
// GitLab's object in the place of the text; or its first line.
func message(body []byte) string {
	var told struct {
		Message     json.RawMessage `json:"message"`
		Error       json.RawMessage `json:"error"`
		Errors      json.RawMessage `json:"errors"`
		Description string          `json:"error_description"`
	}
	if json.Unmarshal(body, &told) != nil {
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
			return "" // a page for people
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		return line(first)
	}
	var parts []string
	for _, raw := range []json.RawMessage{told.Message, told.Error, told.Errors} {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if text != "" && text != "null" {
			parts = append(parts, text)
		}
	}
	if told.Description != "" {
		parts = append(parts, told.Description)
	}
	return line(strings.Join(parts, ": "))
}

// line makes a text of the forge's fit for one line of a message.
func line(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "..."
	}
	return text
}
