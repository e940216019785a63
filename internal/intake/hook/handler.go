package hook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Prefix is where the handler expects to be mounted.
const Prefix = "/hooks/"

// acceptTime bounds one Accept. Forges give up after 5 to 10 s, but what they
// have sent by then is still worth keeping: most never send it again.
const acceptTime = 30 * time.Second

// Options are what a handler works with. All but Metrics are required.
type Options struct {
	// Hook finds a configured hook by its name.
	Hook func(name string) (Hook, bool)
	Sink Sink
	// SpoolDir is a folder of ours, on the disk that keeps deliveries.
	SpoolDir string
	Now      func() time.Time
	Log      *slog.Logger
	Metrics  Metrics
}

// New makes the handler of POST /hooks/NAME.
func New(o Options) http.Handler {
	if o.Metrics == nil {
		o.Metrics = uncounted{}
	}
	return &handler{Options: o, turns: newTurns(), patience: usual()}
}

type handler struct {
	Options
	turns    turns
	patience patience
	buffers  sync.Pool // of bodies; *[]byte
	unheard  unheard
}

type uncounted struct{}

func (uncounted) Delivery(string, string) {}

// refusal answers a request that is turned down.
type refusal struct {
	status int
	result string // for Metrics
	detail string
}

func (e *refusal) Error() string { return e.detail }

func refuse(status int, result, detail string) error {
	return &refusal{status: status, result: result, detail: detail}
}

func (s *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	readWithin(w, s.patience.read)
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		problem(w, http.StatusMethodNotAllowed, "deliveries are sent with POST")
		return
	}
	h, ok := s.Hook(strings.TrimPrefix(r.URL.Path, Prefix))
	if !ok {
		s.Metrics.Delivery("", "unknown")
		drain(r)
		problem(w, http.StatusNotFound, "no hook of that name is configured")
		return
	}
	p, results, err := s.receive(w, r, h)
	if err == nil {
		s.answer(w, h, p, results)
		return
	}
	var no *refusal
	if !errors.As(err, &no) {
		s.Log.Error("delivery not kept", "hook", h.Name, "delivery", p.Delivery.ID, "error", err)
		no = &refusal{http.StatusServiceUnavailable, "failed", "the delivery could not be kept; send it again"}
	}
	s.Metrics.Delivery(h.Name, no.result)
	drain(r)
	if no.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	}
	problem(w, no.status, no.detail)
}

// drain reads away what is left of a usual body that is turned down: a sender that
// still writes when we hang up gets a broken pipe instead of the reason. (The server
// does so by itself for connections that are kept.) The time for the body goes on.
func drain(r *http.Request) {
	if r.ContentLength <= smallBody && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, smallBody)
	}
}

// receive does all that comes before the answer.
func (s *handler) receive(w http.ResponseWriter, r *http.Request, h Hook) (p Parsed, results []Result, err error) {
	if h.Forge != GitHub && form(r.Header) { // others sign something else than the form that they send
		return p, nil, refuse(http.StatusUnsupportedMediaType, "unsupported", "set the hook's content type to application/json")
	}
	seal, err := newSeal(h, r.Header)
	if err != nil {
		return p, nil, s.unsigned(h, err)
	}
	id := s.newID()
	body, err := s.read(w, r, seal, id)
	if err != nil {
		return p, nil, err
	}
	defer func() { body.close(err) }()
	if !seal.right() {
		return p, nil, s.unsigned(h, errUnsigned)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return p, nil, refuse(http.StatusUnsupportedMediaType, "unsupported", "deliveries are not taken compressed")
	}
	if p, err = s.parse(r.Context(), h, r.Header, body); err != nil {
		return p, nil, err
	}
	if len(h.Secret) == 0 {
		p.Repo, p.Moved = Repo{}, nil
	}
	s.stamp(&p, h, id)
	// The forge may hang up; what it sent is good all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), acceptTime)
	defer cancel()
	results, err = s.Sink.Accept(ctx, p)
	if err == nil && len(results) != len(p.Events) {
		err = fmt.Errorf("%d results for %d events", len(results), len(p.Events))
	}
	return p, results, err
}

// parse reads the body and, if it was spooled, makes its file last. Of those, one
// at a time is in memory.
func (s *handler) parse(ctx context.Context, h Hook, header http.Header, b *body) (p Parsed, err error) {
	text := b.data
	if b.file != nil {
		if err = s.turns.parse.take(ctx, s.patience.turn); err != nil {
			return p, err
		}
		defer s.turns.parse.give()
		if text, err = b.file.read(); err != nil {
			return p, err
		}
	}
	if p, err = Parse(h, header, text); err != nil {
		return p, refuse(http.StatusBadRequest, "broken", err.Error())
	}
	if b.file != nil {
		p.Delivery.File, err = b.file.keep(p.Delivery.Body)
		p.Delivery.Body = nil
	}
	return p, err
}

func (s *handler) stamp(p *Parsed, h Hook, id string) {
	d := &p.Delivery
	d.ID, d.Hook, d.At = id, h.Name, s.Now()
	for i := range p.Events {
		p.Events[i].At, p.Events[i].Delivery = d.At, d.ID
	}
}

// newID makes ids that sort by time.
func (s *handler) newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return fmt.Sprintf("%016x%s", s.Now().UnixNano(), hex.EncodeToString(b[:]))
}

// answerOne is one result in the answer.
type answerOne struct {
	Event  string         `json:"event,omitempty"`
	Ref    slot.Ref       `json:"ref,omitzero"`
	Kind   slot.EventKind `json:"kind,omitempty"`
	Result slot.Intake    `json:"result"`
	Reason string         `json:"reason,omitempty"`
	Of     string         `json:"of,omitempty"`
}

func (s *handler) answer(w http.ResponseWriter, h Hook, p Parsed, results []Result) {
	out := struct {
		Delivery string      `json:"delivery"`
		Results  []answerOne `json:"results"`
	}{Delivery: p.Delivery.ID}
	for i, r := range results {
		s.Metrics.Delivery(h.Name, string(r.Intake))
		e := p.Events[i]
		out.Results = append(out.Results, answerOne{r.ID, e.Ref, e.Kind, r.Intake, r.Reason, r.Of})
	}
	if len(results) == 0 {
		s.Metrics.Delivery(h.Name, string(slot.Ignored))
		out.Results = []answerOne{{Ref: p.About.Ref, Result: slot.Ignored, Reason: p.Ignored}}
	}
	write(w, http.StatusAccepted, "application/json", out)
}

// problem answers by RFC 9457.
func problem(w http.ResponseWriter, status int, detail string) {
	write(w, status, "application/problem+json", struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{http.StatusText(status), status, detail})
}

func write(w http.ResponseWriter, status int, kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil { // no value of ours fails
		text = []byte("{}")
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a forge that hung up reads no answer
}
