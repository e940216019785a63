package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

const (
	// askMax bounds one question whose caller set no time, or a longer one.
	askMax = 60 * time.Second
	// answerMax bounds what is read of an answer, in bytes.
	answerMax = 256 << 20
	// bridgeMax is how long a server may be away, for a restart, before those who
	// wait anyhow are told.
	bridgeMax = 15 * time.Second
)

var errRefused error = syscall.ECONNREFUSED

// question is one request.
type question struct {
	op     string // what is tried, for people
	method string
	path   string
	query  url.Values
	body   any
	// again: sent twice, it does what it does once. If no answer comes, it is
	// sent once more.
	again bool
	// patient: for bridgeMax, it is sent as often as it takes.
	patient bool
}

func get(op, path string, query url.Values) question {
	return question{op: op, method: http.MethodGet, path: path, query: query, again: true}
}

func post(op, path string, body any) question {
	return question{op: op, method: http.MethodPost, path: path, body: body}
}

// step is a post that is harmless when sent again.
func step(op, path string, body any) question {
	q := post(op, path, body)
	q.again = true
	return q
}

// of names what is in a path.
func of(parts ...string) string {
	path := ""
	for _, p := range parts {
		path += "/" + url.PathEscape(p)
	}
	return path
}

// ask sends a question and returns the answer, which good finds nothing missing
// in. Any error is what the server says, or slot.ErrUnknown.
func ask[Out any](ctx context.Context, s *Store, q question, good func(Out) bool) (Out, error) {
	var out, zero Out
	ctx, done := s.bounded(ctx)
	defer done()
	var body []byte
	if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return zero, fmt.Errorf("%w: %s: %w", slot.ErrUsage, q.op, err)
		}
	}
	res, data, err := s.send(ctx, q, body)
	if err != nil && q.again && ctx.Err() == nil {
		res, data, err = s.send(ctx, q, body)
	}
	for end := time.Now().Add(bridgeMax); err != nil && q.patient && time.Now().Before(end) && clock.Pause(ctx, pauseMin) == nil; {
		res, data, err = s.send(ctx, q, body)
	}
	switch {
	case err != nil && s.ctx.Err() != nil:
		return zero, s.unknown(q.op, errClosed)
	case err != nil:
		return zero, s.unknown(q.op, err)
	case media(res) == wire.ProblemType && res.StatusCode >= 400:
		var p wire.Problem
		if err := json.Unmarshal(data, &p); err != nil {
			return zero, s.unknown(q.op, fmt.Errorf("the answer (%s) cannot be read: %w", res.Status, err))
		}
		return zero, p.Err(q.op, s.address)
	case res.StatusCode != http.StatusOK || media(res) != "application/json":
		return zero, s.unknown(q.op, fmt.Errorf("the answer (%s, %q) is not one of the API's", res.Status, media(res)))
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return zero, s.unknown(q.op, fmt.Errorf("the answer cannot be read: %w", err))
	}
	if !good(out) {
		return zero, s.unknown(q.op, errors.New("the answer is not one to this question"))
	}
	return out, nil
}

// send sends a question once and reads the whole answer.
func (s *Store) send(ctx context.Context, q question, body []byte) (*http.Response, []byte, error) {
	res, err := s.open(ctx, q, body)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, answerMax+1))
	if err == nil && len(data) > answerMax {
		err = errors.New("the answer is too long")
	}
	return res, data, err
}

func (s *Store) open(ctx context.Context, q question, body []byte) (*http.Response, error) {
	to := s.root + "/api/v1" + q.path
	if len(q.query) > 0 {
		to += "?" + q.query.Encode()
	}
	var content io.Reader
	if q.method != http.MethodGet {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, to, content)
	if err != nil {
		return nil, err
	}
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.opt.Token != "" && !s.unix {
		req.Header.Set("Authorization", "Bearer "+s.opt.Token)
	}
	return s.client.Do(req)
}

// bounded ends with ctx, with the store, and after askMax.
func (s *Store) bounded(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, askMax)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

func media(res *http.Response) string {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
