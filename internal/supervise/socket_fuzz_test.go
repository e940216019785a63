package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// yesDesk grants whatever reaches it.
type yesDesk struct{ asked int }

func (d *yesDesk) check(context.Context) Answer                { d.asked++; return Answer{State: Ours} }
func (d *yesDesk) renew(context.Context) Answer                { d.asked++; return Answer{State: Ours} }
func (d *yesDesk) release(context.Context, slot.Result) Answer { d.asked++; return Answer{State: Ours} }

// P3: whatever a stranger writes to a run's socket, nothing reaches the run
// without its claim and token.
func FuzzSocket(f *testing.F) {
	key := claim.Key{Claim: "slug.abc", Token: "0123456789abcdef"}
	f.Add("check", []byte(`{"claim":"slug.abc","token":"0123456789abcdef"}`))
	f.Add("release", []byte(`{"claim":"slug.abc","token":"0123456789abcdef","outcome":"later"}`))
	f.Add("renew", []byte(`{"claim":"slug.abc","token":"0123456789ABCDEF"}`))
	f.Add("renew", []byte(`{"claim":["slug.abc"],"token":null}`))
	f.Add("check", []byte(``))
	f.Add("../check", bytes.Repeat([]byte("["), 100000))
	f.Fuzz(func(t *testing.T, verb string, body []byte) {
		l, err := net.Listen("unix", t.TempDir()+"/s")
		if err != nil {
			t.Fatal(err)
		}
		d := &yesDesk{}
		server := serveSocket(l, key, d)
		defer server.Close()
		req := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		req.URL.Path = "/" + verb
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, req)
		if w.Code == http.StatusOK && !json.Valid(w.Body.Bytes()) {
			t.Errorf("the answer is no JSON: %q", w.Body)
		}
		var q question
		owner := json.Unmarshal(body, &q) == nil && q.Claim == key.Claim && q.Token == key.Token && len(body) <= bodyMax
		if d.asked > 0 && !owner {
			t.Errorf("%s %q reached the run", verb, body)
		}
	})
}
