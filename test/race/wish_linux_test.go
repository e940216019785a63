package race

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// ack is a wish that was acknowledged.
type ack struct {
	ref  slot.Ref
	name string        // the client's own name for it
	sent time.Duration // when it was sent for the first time
	at   time.Duration // when it was acknowledged
	id   string        // of the event, or of the delivery that it repeats
}

// path is a way into the queue. One attempt: not ok if nothing was acknowledged.
type path func(d *daemons, ref slot.Ref, name string) (id string, ok bool)

var paths = []path{(*daemons).byWebhook, (*daemons).byDispatch, (*daemons).byAPI}

// wish sends one, again and again, until it is acknowledged.
func (d *daemons) wish(by path, ref slot.Ref, name string) ack {
	a := ack{ref: ref, name: name, sent: boot()}
	for end := boot() + patience; ; time.Sleep(10 * time.Millisecond) {
		var ok bool
		if a.id, ok = by(d, ref, name); ok {
			a.at = boot()
			return a
		}
		if boot() > end {
			d.t.Errorf("wish %s for %s was not acknowledged within %v", name, ref, patience)
			return a
		}
	}
}

// accepted is how the three answer, as far as it matters.
type accepted struct {
	Event, Of, Result string
}

func (a accepted) id() (string, bool) {
	switch {
	case slot.Intake(a.Result) == slot.Duplicate:
		return a.Of, true
	case a.Event != "":
		return a.Event, true
	}
	return "", false
}

// byWebhook sends a signed delivery; its name is its GUID and makes it different.
func (d *daemons) byWebhook(ref slot.Ref, name string) (string, bool) {
	body := fmt.Appendf(nil, `{"action":"labeled","label":{"name":%q},"sender":{"login":"mona","type":"User"},
		"issue":{"number":%d,"state":"open","title":"a","user":{"login":"octocat"},"updated_at":"2026-01-01T00:00:00Z"},
		"repository":{"full_name":%q,"private":false,"html_url":"https://github.com/%[3]s"}}`, name, ref.Number(), ref.Owner()+"/"+ref.Name())
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	return d.post("/hooks/forge", body, http.StatusAccepted, http.Header{
		"X-Github-Event": {"issues"}, "X-Github-Delivery": {name},
		"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
	})
}

// byAPI sends a wish with its name as the idempotency key.
func (d *daemons) byAPI(ref slot.Ref, name string) (string, bool) {
	body := fmt.Appendf(nil, `{"ref":%q,"note":%q,"key":%[2]q}`, ref.String(), name)
	return d.post("/api/v1/events", body, http.StatusOK, nil)
}

func (d *daemons) post(path string, body []byte, want int, header http.Header) (string, bool) {
	req, err := http.NewRequestWithContext(d.ctx, http.MethodPost, "http://oneslot"+path, bytes.NewReader(body))
	if err != nil {
		d.t.Error(err)
		return "", false
	}
	req.GetBody = nil // whoever sends it again is we
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.client.Do(req)
	if err != nil {
		return "", false // killed before the answer, or not there
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", false
	}
	var got struct{ Results []accepted }
	if resp.StatusCode != want || json.Unmarshal(answer, &got) != nil || len(got.Results) != 1 {
		d.t.Errorf("POST %s: %s\n%s", path, resp.Status, answer)
		return "", false
	}
	return d.known(got.Results[0], answer)
}

// byDispatch is the command line, which needs no daemon.
func (d *daemons) byDispatch(ref slot.Ref, name string) (string, bool) {
	code, p := d.do(job{[]string{"dispatch", ref.String(), "--rule", "work", "--key", name, "--note", name, "--json"}, d.env})
	if code != 0 {
		d.t.Errorf("dispatch: exit %d\n%s", code, p.err.String())
		return "", false
	}
	var got []accepted
	if err := json.Unmarshal(p.out.Bytes(), &got); err != nil || len(got) != 1 {
		d.t.Errorf("dispatch printed %q", p.out.String())
		return "", false
	}
	return d.known(got[0], p.out.Bytes())
}

func (d *daemons) known(a accepted, answer []byte) (string, bool) {
	id, ok := a.id()
	if !ok {
		d.t.Errorf("not wanted: %s", answer)
	}
	return id, ok
}
