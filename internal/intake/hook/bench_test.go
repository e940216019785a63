package hook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

type nowhere struct{ results []Result }

func (n nowhere) Accept(_ context.Context, p Parsed) ([]Result, error) {
	return n.results[:len(p.Events)], nil
}

// discard is an answer that goes nowhere, so that what is measured is the handler.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Beside the least that a receiver of signed deliveries does: read the body and
// verify its HMAC.
func BenchmarkHandler(b *testing.B) {
	h := New(Options{
		Hook: func(string) (Hook, bool) { return testHook(GitHub), true }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Sink: nowhere{[]Result{{Intake: slot.Queued}}},
	})
	benchHandler(b, h)
}

func BenchmarkBareHMAC(b *testing.B) {
	secret := []byte("test-secret")
	benchHandler(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, secret)
		_, _ = mac.Write(body)
		want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		if err != nil || !hmac.Equal([]byte(want), []byte(r.Header.Get("X-Hub-Signature-256"))) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
}

func benchHandler(b *testing.B, h http.Handler) {
	for _, c := range []struct{ name, event, file string }{
		{"check_run", "check_run", "github/26-check_run.completed.json"},
		{"pull_request", "pull_request", "github/17-pull_request.synchronize.json"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var compact bytes.Buffer // as GitHub sends it
			if err := json.Compact(&compact, read(b, c.file)); err != nil {
				b.Fatal(err)
			}
			body := compact.Bytes()
			r := request(c.event, body)
			w := discard{http.Header{}}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(bytes.NewReader(body))
				h.ServeHTTP(w, r)
			}
		})
	}
}
