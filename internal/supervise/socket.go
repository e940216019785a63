package supervise

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// bodyMax bounds a request on the run's socket.
const bodyMax = 64 << 10

// question is the body of every request on the run's socket.
type question struct {
	Claim   string      `json:"claim"`
	Token   string      `json:"token"`
	Outcome slot.Result `json:"outcome,omitempty"` // of release; empty for done
}

// desk is what the socket needs of the run behind it. It serves one claim.
type desk interface {
	check(ctx context.Context) Answer
	renew(ctx context.Context) Answer
	release(ctx context.Context, said slot.Result) Answer
}

// serveSocket answers check, renew and release of one claim until the listener
// is closed.
func serveSocket(l net.Listener, key claim.Key, d desk) *http.Server {
	mux := http.NewServeMux()
	serve := func(verb string, answer func(context.Context, question) Answer) {
		mux.HandleFunc("POST /"+verb, func(w http.ResponseWriter, req *http.Request) {
			var q question
			body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, bodyMax))
			if err == nil {
				err = json.Unmarshal(body, &q)
			}
			if err != nil {
				http.Error(w, "the body is not a small JSON object", http.StatusBadRequest)
				return
			}
			a := Answer{State: Gone, Reason: "this socket serves another claim"}
			if same(q, key) {
				a = answer(req.Context(), q)
			}
			a.Claim = q.Claim
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(a)
		})
	}
	serve("check", func(ctx context.Context, _ question) Answer { return d.check(ctx) })
	serve("renew", func(ctx context.Context, _ question) Answer { return d.renew(ctx) })
	serve("release", func(ctx context.Context, q question) Answer { return d.release(ctx, q.Outcome) })
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go server.Serve(l)
	return server
}

// same compares both parts in constant time.
func same(q question, key claim.Key) bool {
	id := subtle.ConstantTimeCompare([]byte(q.Claim), []byte(key.Claim))
	token := subtle.ConstantTimeCompare([]byte(q.Token), []byte(key.Token))
	return id&token == 1
}
