package hook

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// maxGUID bounds the forge's id of a delivery, in bytes.
const maxGUID = 128

// Parse reads a delivery. It looks at no signature, and at nothing but its
// arguments. A body of a form (GitHub can be told to send one) is replaced by the
// payload in it. The error matches ErrNoEvent, ErrEmpty or ErrBroken.
func Parse(h Hook, header http.Header, body []byte) (Parsed, error) {
	event := eventName(h.Forge, header)
	if event == "" {
		return Parsed{}, ErrNoEvent
	}
	body, err := payload(header, body)
	if err != nil {
		return Parsed{}, err
	}
	r := reading{hook: h}
	r.Delivery = slot.Delivery{
		GUID: guid(h.Forge, header), Event: mark.Line(event), Body: body, Size: int64(len(body)),
	}
	r.About.Kind = "none"
	if h.Forge == GitLab {
		err = r.gitLab(body)
	} else {
		err = r.gitHub(event, body)
	}
	if err != nil {
		return Parsed{}, err
	}
	if len(r.Events) == 0 && r.Ignored == "" {
		r.ignore("nothing that has a kind of event")
	}
	return r.Parsed, nil
}

// reading is a delivery while it is read.
type reading struct {
	Parsed
	hook  Hook
	host  string
	path  string     // owner/repo, as the forge writes it
	facts slot.Facts // those that all events share
}

func (r *reading) ignore(format string, args ...any) {
	r.Events, r.Ignored = nil, mark.Line(fmt.Sprintf(format, args...))
}

// at sets the repository.
func (r *reading) at(id int64, path, web string) {
	r.path, r.host = path, r.hook.hostOf(web)
	if name := mark.Repo(r.host, path); id > 0 && name != "" {
		r.Repo = Repo{number(id), name}
	}
}

// hostOf is the host that refs get.
func (h Hook) hostOf(web string) string {
	switch {
	case h.Host != "":
		return h.Host
	case h.Forge == GitHub:
		return "github.com"
	case h.Forge == GitLab:
		return "gitlab.com"
	}
	// A name to call it by; nothing is ever sent there.
	u, err := url.Parse(web)
	if err != nil {
		return ""
	}
	host, _ := slot.ParseHost(u.Host)
	return host
}

// about sets the ref; it reports whether there is one.
func (r *reading) about(kind string, sign byte, n int64) bool {
	ref, ok := mark.Ref(r.host, r.path, sign, n)
	if !ok {
		r.ignore("names no ref")
		return false
	}
	r.About.Ref, r.About.Kind = ref, kind
	return true
}

// add adds an event about the ref, or, with a zero ref, about the commit.
func (r *reading) add(e slot.Event) {
	e.Path = slot.PathWebhook
	if e.Repo = e.Ref.Repo(); e.Ref.IsZero() {
		e.Repo = mark.Repo(r.host, r.path)
		if e.Repo == "" || e.Sha == "" {
			r.ignore("names neither a ref nor a commit")
			return
		}
	}
	r.Events = append(r.Events, e)
}

// payload is the JSON text of a body.
func payload(header http.Header, body []byte) ([]byte, error) {
	if len(body) > 0 && form(header) {
		values, err := url.ParseQuery(string(body))
		if err != nil || len(values["payload"]) != 1 {
			return nil, fmt.Errorf("%w: nor a form with one payload", ErrBroken)
		}
		body = []byte(values.Get("payload"))
	}
	switch text := bytes.TrimLeft(body, " \t\r\n"); {
	case len(text) == 0:
		return nil, ErrEmpty
	case text[0] != '{':
		return nil, ErrBroken
	}
	return body, nil
}

func form(header http.Header) bool {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return kind == "application/x-www-form-urlencoded"
}

// eventName is what the forge calls the event. Gitea sends the headers of others
// along; each hook goes by its own forge's.
func eventName(forge string, header http.Header) string {
	switch forge {
	case GitHub:
		return header.Get("X-GitHub-Event")
	case Forgejo:
		if s := header.Get("X-Forgejo-Event"); s != "" {
			return s
		}
		return header.Get("X-Gitea-Event")
	case Gitea:
		return header.Get("X-Gitea-Event")
	case Gogs:
		return header.Get("X-Gogs-Event")
	case GitLab:
		return header.Get("X-Gitlab-Event")
	}
	return ""
}

// guid is the id that a repeated delivery of the same thing has again. Not
// X-Gitlab-Event-UUID: GitLab gives the hooks that a hook sets off the same one.
func guid(forge string, header http.Header) string {
	var names []string
	switch forge {
	case GitHub:
		names = []string{"X-GitHub-Delivery"}
	case Forgejo:
		names = []string{"X-Forgejo-Delivery", "X-Gitea-Delivery"}
	case Gitea:
		names = []string{"X-Gitea-Delivery"}
	case Gogs:
		names = []string{"X-Gogs-Delivery"}
	case GitLab:
		names = []string{"Idempotency-Key", "Webhook-Id"}
	}
	for _, name := range names {
		if s := header.Get(name); s != "" {
			return mark.Short(s, maxGUID)
		}
	}
	return ""
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
