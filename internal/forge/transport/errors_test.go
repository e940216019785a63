package transport

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestErrorKinds(t *testing.T) {
	for status, kind := range map[int]error{
		400: forge.ErrRefused, 401: forge.ErrUnauthorized, 403: forge.ErrForbidden, 404: forge.ErrNotFound,
		405: forge.ErrRefused, 409: forge.ErrRefused, 410: forge.ErrNotFound, 413: forge.ErrRefused,
		422: forge.ErrRefused, 429: forge.ErrLimited, 451: forge.ErrForbidden, 408: nil, 500: nil, 502: nil, 304: nil,
	} {
		text := []byte(`{"message":"no"}`)
		resp := &http.Response{StatusCode: status, Body: &failed{bytes.NewReader(text), text}}
		err := Error("read octo/hello#2", errors.New("the library's words"), resp)
		e := new(forge.Error)
		if !errors.As(err, &e) || e.Kind != kind || e.Status != status || e.Detail != "no" || !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%d: %#v", status, err)
		}
	}
	if Error("x", nil, &http.Response{StatusCode: 500}) != nil {
		t.Error("no error is no error")
	}
	gone := Error("x", &url.Error{Op: "Get", URL: "https://forge.example/secret", Err: context.Canceled}, nil)
	if !errors.Is(gone, context.Canceled) || strings.Contains(gone.Error(), "secret") {
		t.Error(gone)
	}
}

func TestMessages(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"Not Found","documentation_url":"https://x"}`:              "Not Found",
		`{"message":{"note":["is too long (maximum is 1000000 characters)"]}}`: `{"note":["is too long (maximum is 1000000 characters)"]}`,
		`{"message":"Validation Failed","errors":[{"code":"x"}]}`:              `Validation Failed: [{"code":"x"}]`,
		`{"errors":null,"message":"not found"}`:                                "not found",
		`{"error":"invalid_token","error_description":"Token was revoked."}`:   "invalid_token: Token was revoked.",
		"404 page not found\n": "404 page not found",
		"<html>\nsorry":        "",
		"":                     "",
		"{\"message\":\"two\\nlines and \\u001b[31mcolour\\u202e\"}": "two lines and [31mcolour",
		strings.Repeat("x", 301):                                     strings.Repeat("x", 300) + "...",
	} {
		if got := message([]byte(body)); got != want {
			t.Errorf("%q: %q, not %q", body, got, want)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"message":{"a":[1]},"errors":[]}`))
	f.Add([]byte("\x1b[2J\xff\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := message(body)
		if len(got) > maxDetail+3 || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q", got)
		}
	})
}
