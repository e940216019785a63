package remote_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func TestLog(t *testing.T) {
	whole := strings.Repeat("a line of é\x1b[31m\n", 20000)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "none"):
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"type":"urn:oneslot:usage","detail":"no log"}`) //nolint:errcheck // the client tells
		case r.URL.Query().Get("follow") == "":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, whole) //nolint:errcheck
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, ": here\n\nevent: log\ndata: \"one\\nevent: end\\n\"\n\nevent: log\ndata: \"two\"\n\n") //nolint:errcheck
			if !strings.Contains(r.URL.Path, "cut") {
				io.WriteString(w, "event: end\ndata: {}\n\n") //nolint:errcheck
			}
		}
	})
	s := serveHandler(t, "unix", h).dial(t, "boot")
	log := func(run string, follow bool) (string, error) {
		var out bytes.Buffer
		err := s.Log(t.Context(), run, follow, &out)
		return out.String(), err
	}
	if got, err := log("r", false); got != whole || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(whole), err)
	}
	if got, err := log("r", true); got != "one\nevent: end\ntwo" || err != nil {
		t.Errorf("followed: %q, %v", got, err)
	}
	if got, err := log("cut", true); got != "one\nevent: end\ntwo" || !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("cut off: %q, %v; want unknown", got, err)
	}
	if _, err := log("none", false); !errors.Is(err, slot.ErrUsage) {
		t.Errorf("without a log: %v", err)
	}
}
