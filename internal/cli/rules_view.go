package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strings"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/slot"
)

// deliveryMost is the largest delivery that the daemon takes, in bytes, with room
// for its headers.
const deliveryMost = 25<<20 + 64<<10

// delivery is a request as somebody kept it.
type delivery struct {
	hook   string // empty if it does not say
	header http.Header
	body   []byte
}

// readDelivery reads a payload, or a whole request.
func (c *cli) readDelivery(file string) (delivery, error) {
	in := io.Reader(c.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return delivery{}, fmt.Errorf("%w: %w", slot.ErrUsage, err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, deliveryMost+1))
	switch {
	case err != nil:
		return delivery{}, fmt.Errorf("%w: %w", slot.ErrUsage, err)
	case len(data) > deliveryMost:
		return delivery{}, fmt.Errorf("%w: %s is larger than any delivery", slot.ErrUsage, clean(file))
	}
	d, err := parseDelivery(data)
	if err != nil {
		return delivery{}, fmt.Errorf("%w: %s: %w", slot.ErrUsage, clean(file), err)
	}
	return d, nil
}

// parseDelivery tells a payload, which is a JSON object, from a request.
func parseDelivery(data []byte) (delivery, error) {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] == '{' {
		return delivery{header: http.Header{}, body: data}, nil
	}
	var d delivery
	if line, rest, _ := bytes.Cut(data, []byte("\n")); bytes.HasPrefix(line, []byte("POST ")) {
		if words := strings.Fields(string(line)); len(words) > 1 {
			d.hook, _ = strings.CutPrefix(words[1], "/hooks/")
		}
		if strings.HasPrefix(d.hook, "/") { // another path, which names no hook of ours
			d.hook = ""
		}
		data = rest
	}
	in := bufio.NewReader(bytes.NewReader(data))
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return delivery{}, errors.New("is neither a JSON object nor a request with headers, an empty line and a body")
	}
	d.header = http.Header(header)
	d.body, err = io.ReadAll(in)
	return d, err
}

// eventHeader is where a forge names the event.
func eventHeader(forge string) string {
	return map[string]string{
		"github": "X-GitHub-Event", "forgejo": "X-Forgejo-Event", "gitea": "X-Gitea-Event",
		"gogs": "X-Gogs-Event", "gitlab": "X-Gitlab-Event",
	}[forge]
}

// rehearsalView is what would become of a delivery.
type rehearsalView struct {
	Event   *string         `json:"event"`
	Action  *string         `json:"action"`
	Ignored *string         `json:"ignored"`
	Events  []rehearsedView `json:"events"`
}

type rehearsedView struct {
	Ref   *string       `json:"ref"`
	Repo  *string       `json:"repo"`
	Kind  string        `json:"kind"`
	Sha   *string       `json:"sha"`
	Facts slot.Facts    `json:"facts"`
	Trust gateFinding   `json:"trust"`
	Rules []outlookView `json:"rules"`
}

type outlookView struct {
	Rule  string   `json:"rule"`
	Wants bool     `json:"wants"`
	Why   *string  `json:"why"`
	Run   []string `json:"run"`
}

func viewRehearsal(r app.Rehearsal) rehearsalView {
	v := rehearsalView{Event: text(r.Event), Action: text(r.Action), Ignored: text(r.Ignored), Events: []rehearsedView{}}
	for _, e := range r.Events {
		ev := rehearsedView{
			Repo: text(e.Event.Repo), Kind: string(e.Event.Kind), Sha: text(e.Event.Sha), Facts: e.Event.Facts,
			Trust: gateFinding{Gate: "trust", Verdict: string(e.Trust.Verdict), Reason: e.Trust.Reason, Detail: text(e.Trust.Detail)},
			Rules: []outlookView{},
		}
		if !e.Event.Ref.IsZero() {
			ev.Ref = text(e.Event.Ref.String())
		}
		for _, o := range e.Rules {
			ev.Rules = append(ev.Rules, outlookView{o.Rule, o.Wants, text(o.Why), o.Run})
		}
		v.Events = append(v.Events, ev)
	}
	return v
}
