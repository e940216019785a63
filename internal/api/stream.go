package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Bounds of streams.
const (
	beat      = 15 * time.Second // a stream says that it lives
	writeTime = 30 * time.Second // for one word; a reader that takes longer is cut off
	logPause  = 200 * time.Millisecond
)

const eventStream = "text/event-stream"

func streamRoutes() []route {
	return []route{
		stream("/api/v1/line", Dispatch, "Be told when a ticket should look again", line),
		stream("/api/v1/changes", Read, "Be told of changes", changes),
		stream("/api/v1/runs/{run}/log", Read, "What a run's worker printed", runLog),
	}
}

// stream is a route that takes as long as it takes.
func stream[In any](path string, need Role, summary string, f func(*call, In) error) route {
	return route{
		method: "GET", path: path, need: need, summary: summary, query: reflect.TypeFor[In](), media: eventStream, slow: true,
		serve: func(c *call) error {
			var in In
			if err := readQuery(c.r, &in); err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(c.ctx())
			defer cancel()
			defer context.AfterFunc(c.shutdown.of(c.r), cancel)()
			c.r = c.r.WithContext(ctx)
			return f(c, in)
		},
	}
}

// events is a stream of server-sent events under way.
type events struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (c *call) events() *events {
	h := c.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	return &events{c.w, http.NewResponseController(c.w)}
}

// send writes one event; without a name it is the sign of life.
func (e *events) send(name string, data any) error {
	_ = e.rc.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer of a test has one
	text := ": here\n\n"
	if name != "" {
		body, err := json.Marshal(data)
		if err != nil {
			return err
		}
		text = "event: " + name + "\ndata: " + string(body) + "\n\n"
	}
	if _, err := io.WriteString(e.w, text); err != nil {
		return err
	}
	return e.rc.Flush()
}

type lineQuery struct {
	Ref    string `json:"ref"`
	Ticket string `json:"ticket"`
}

// line tells a ticket to look again. "ready" comes first: from then on no word is
// lost while the stream lives. After a break one looks again by oneself.
func line(c *call, in lineQuery) error {
	ref, err := c.ref(in.Ref)
	if err != nil {
		return err
	}
	if in.Ticket == "" {
		return usage("a ticket is needed")
	}
	ticket := claim.Ticket{ID: in.Ticket}
	wake, err := c.Claims.Wake(c.ctx(), ref, ticket)
	if err != nil {
		return err
	}
	c.lines.begin(in.Ticket)
	defer c.lines.end(in.Ticket, func() {
		ctx, cancel := context.WithTimeout(context.Background(), stepTime)
		defer cancel()
		if err := c.Claims.Leave(ctx, ref, ticket); err != nil {
			c.Log.Warn("a place in line could not be given up", "ref", ref, "err", err)
		}
	})
	e := c.events()
	name := "ready"
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for {
		if e.send(name, struct{}{}) != nil {
			return nil // it went away
		}
		select {
		case <-wake:
			name = "look"
		case <-alive.C:
			name = ""
		case <-c.ctx().Done():
			return nil
		}
	}
}

func changes(c *call, _ none) error {
	if c.Feed == nil {
		return fmt.Errorf("%w: there is no stream of changes here", slot.ErrConfig)
	}
	words, stop := c.Feed.listen()
	defer stop()
	e := c.events()
	err := e.send("ready", struct{}{})
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for err == nil {
		select {
		case w := <-words:
			err = e.send("change", w)
		case <-alive.C:
			err = e.send("", nil)
		case <-c.ctx().Done():
			return nil
		}
	}
	return nil // it went away
}

type logQuery struct {
	Follow bool `json:"follow"` // as server-sent events, until the run ends
}

// runLog copies a run's log, as plain text; following, each event's data is a JSON
// text, and "end" is the last.
func runLog(c *call, in logQuery) error {
	if c.Broker == nil {
		return fmt.Errorf("%w: there are no logs here", slot.ErrConfig)
	}
	r, err := c.Claims.Run(c.ctx(), c.r.PathValue("run"))
	if err != nil {
		return err
	}
	if r.Holder.Process.Far() {
		return usage("the log of run %s is not here, but on the host of its worker", r.ID)
	}
	f, err := c.Broker.Log(r)
	if err != nil {
		return err
	}
	defer f.Close()
	if in.Follow || strings.Contains(c.r.Header.Get("Accept"), eventStream) {
		return c.follow(r, f)
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = io.Copy(patient{c.w, http.NewResponseController(c.w)}, f)
	return nil
}

// patient gives each write its own time.
type patient struct {
	w  io.Writer
	rc *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	_ = p.rc.SetWriteDeadline(time.Now().Add(writeTime))
	return p.w.Write(b)
}

func (c *call) follow(r slot.Run, f io.Reader) error {
	e := c.events()
	tick := time.NewTicker(logPause)
	defer tick.Stop()
	said := time.Now()
	buf := make([]byte, 32<<10)
	for {
		// Asked before the log is read, so that nothing is missed after it.
		over, err := c.Broker.Ended(c.ctx(), r)
		if err != nil {
			return nil // an end without "end" says that it is not known
		}
		for {
			n, err := f.Read(buf)
			if n > 0 {
				said = time.Now()
				if e.send("log", string(buf[:n])) != nil {
					return nil
				}
			}
			if err != nil || n == 0 {
				break
			}
		}
		if over {
			_ = e.send("end", struct{}{})
			return nil
		}
		if time.Since(said) > beat {
			said = time.Now()
			if e.send("", nil) != nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-c.ctx().Done():
			return nil
		}
	}
}
