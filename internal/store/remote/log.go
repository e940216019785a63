package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/oneslot/oneslot/internal/wire"
)

// Log copies to w what the worker of a run of the server's host printed; following,
// until the run has ended. The error matches slot.ErrUsage if it left no log there.
func (s *Store) Log(ctx context.Context, run string, follow bool, w io.Writer) error {
	q := question{op: "read the log", method: http.MethodGet, path: of("runs", run, "log")}
	if follow {
		q.query = url.Values{"follow": {"true"}}
	}
	res, err := s.open(ctx, q, nil)
	if err != nil {
		return s.unknown(q.op, err)
	}
	defer res.Body.Close()
	switch kind := media(res); {
	case kind == wire.ProblemType:
		var p wire.Problem
		if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&p); err != nil {
			return s.unknown(q.op, err)
		}
		return p.Err(q.op, s.address)
	case res.StatusCode != http.StatusOK || kind != "text/plain" && kind != "text/event-stream":
		return s.unknown(q.op, fmt.Errorf("the answer (%s, %q) is not one of the API's", res.Status, kind))
	case kind == "text/event-stream":
		return s.follow(q, res.Body, w)
	}
	if _, err := io.Copy(w, res.Body); err != nil {
		return s.unknown(q.op, err)
	}
	return nil
}

// lineMax bounds one line of a stream: the server sends 32 KiB of a log at once,
// which JSON may make six times as long.
const lineMax = 1 << 20

func (s *Store) follow(q question, body io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, lineMax)
	event := ""
	for lines.Scan() {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = name
		}
		if event == "end" {
			return nil
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || event != "log" {
			continue
		}
		var text string
		if err := json.Unmarshal([]byte(data), &text); err != nil {
			return s.unknown(q.op, err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	err := lines.Err()
	if err == nil {
		err = errors.New("the server ended it before the run did")
	}
	return s.unknown(q.op, err)
}
