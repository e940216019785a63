package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// Bounds of one request.
const (
	maxBody  = 512 << 10 // bytes
	bigBody  = 4 << 20   // bytes, of what lists thousands of claims or brings a command
	maxText  = 64 << 10  // bytes, of a text for people
	bodyTime = 20 * time.Second
	stepTime = 60 * time.Second // for an answer; streams and stops have none
)

// route is one thing that is served.
type route struct {
	method, path string
	need         Role
	summary      string
	query        reflect.Type // of a GET: the fields are its parameters
	in, out      reflect.Type // nil: no body; a stream or plain text
	media        string       // of the answer; empty is JSON
	slow         bool         // it may take as long as it takes
	big          bool         // its body may have bigBody bytes
	serve        func(c *call) error
}

// call is one request under way.
type call struct {
	*server
	who  caller
	most int64 // bytes of its body
	w    http.ResponseWriter
	r    *http.Request
}

func (c *call) ctx() context.Context { return c.r.Context() }

// do is a route that reads In, from the body or, of a GET, the query, and answers
// Out as JSON.
func do[In, Out any](method, path string, need Role, summary string, f func(*call, In) (Out, error)) route {
	r := route{method: method, path: path, need: need, summary: summary, out: reflect.TypeFor[Out]()}
	if in := reflect.TypeFor[In](); method == http.MethodGet {
		r.query = in
	} else {
		r.in = in
	}
	r.serve = func(c *call) error {
		var in In
		var err error
		if method == http.MethodGet {
			err = readQuery(c.r, &in)
		} else {
			err = c.readBody(&in)
		}
		if err != nil {
			return err
		}
		out, err := f(c, in)
		if err != nil {
			return err
		}
		answer(c.w, http.StatusOK, "application/json", out)
		return nil
	}
	return r
}

type none struct{}

// large is a route whose body may be large.
func large(r route) route { r.big = true; return r }

// short refuses texts for people that are none.
func short(texts ...string) error {
	for _, t := range texts {
		if len(t) > maxText {
			return usage("a text has more than %d bytes", maxText)
		}
	}
	return nil
}

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", slot.ErrUsage, fmt.Sprintf(format, args...))
}

// readBody reads one JSON object that has no fields but the known ones.
func (c *call) readBody(in any) error {
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &refused{http.StatusUnsupportedMediaType, wire.TypeUsage, "the body must be application/json, and say so"}
	}
	rc := http.NewResponseController(c.w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTime)) // not every writer of a test has one
	body := http.MaxBytesReader(c.w, c.r.Body, c.most)
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	err := dec.Decode(in)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("there is more than one JSON value")
		}
	}
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return &refused{http.StatusRequestEntityTooLarge, wire.TypeTooLarge, fmt.Sprintf("the body has more than %d bytes", c.most)}
	case err != nil:
		return usage("the body: %v", err)
	}
	_ = rc.SetReadDeadline(time.Time{})
	return nil
}

// readQuery fills a struct of strings, *strings, ints and bools by their names in
// JSON.
func readQuery(r *http.Request, in any) error {
	q := r.URL.Query()
	v := reflect.ValueOf(in).Elem()
	known := map[string]bool{}
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		known[name] = true
		if !q.Has(name) {
			continue
		}
		text := q.Get(name)
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(text)
		case reflect.Pointer:
			f.Set(reflect.ValueOf(&text))
		case reflect.Bool:
			b, err := strconv.ParseBool(text)
			if err != nil {
				return usage("%s is true or false", name)
			}
			f.SetBool(b)
		default:
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 0 {
				return usage("%s is a number from 0", name)
			}
			f.SetInt(n)
		}
	}
	for name := range q {
		if !known[name] {
			return usage("there is no parameter %q here", name)
		}
	}
	return nil
}

// refused is a refusal that is HTTP's own rather than slot's.
type refused struct {
	status int
	typ    string
	detail string
}

func (e *refused) Error() string { return e.detail }

// answer writes one JSON value.
func answer(w http.ResponseWriter, status int, media string, v any) {
	data, err := json.Marshal(v)
	if err != nil { // a shape of ours that JSON cannot take: forge text never is one
		status, media = http.StatusInternalServerError, wire.ProblemType
		data, _ = json.Marshal(wire.FromError(err))
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // not every writer of a test has one
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // who went away is told nothing
}

// fail answers an error.
func (c *call) fail(err error) {
	var own *refused
	if errors.As(err, &own) {
		answer(c.w, own.status, wire.ProblemType, wire.Problem{
			Type: own.typ, Title: http.StatusText(own.status), Status: own.status, Detail: own.detail,
		})
		return
	}
	p := c.outProblem(wire.FromError(err))
	if p.Status >= 500 {
		c.Log.Error("a request could not be answered", "method", c.r.Method, "path", c.r.URL.Path, "err", err)
	}
	answer(c.w, p.Status, wire.ProblemType, p)
}

func (s *server) nowhere(w http.ResponseWriter, r *http.Request) {
	(&call{server: s, w: w, r: r}).fail(&refused{http.StatusNotFound, wire.TypeNoRoute, "there is nothing at " + strconv.Quote(r.URL.Path)})
}
