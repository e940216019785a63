package transport_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// C45: whatever way a limit is told, the whole client waits at least as long.
func TestC45_Limits(t *testing.T) {
	unix := func(d time.Duration) string { return strconv.FormatInt(noon.Add(d).Unix(), 10) }
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		wait   time.Duration // 0: it is no limit
		kind   error
	}{
		"403 with Retry-After":          {status: 403, header: map[string]string{"Retry-After": "90"}, wait: 90 * time.Second},
		"403 with a date":               {status: 403, header: map[string]string{"Retry-After": noon.Add(2 * time.Minute).Format(http.TimeFormat)}, wait: 2 * time.Minute},
		"403 with a phrase":             {status: 403, body: `{"message":"You have exceeded a Secondary Rate Limit."}`, wait: time.Minute},
		"403, older phrase":             {status: 403, body: `{"message":"You have triggered an abuse detection mechanism"}`, wait: time.Minute},
		"403, primary by phrase":        {status: 403, body: `{"message":"API rate limit exceeded for user"}`, wait: time.Minute},
		"403, used up":                  {status: 403, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": unix(time.Hour)}, wait: time.Hour},
		"429":                           {status: 429, wait: time.Minute},
		"429, GitLab":                   {status: 429, header: map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": unix(40 * time.Second), "Retry-After": "30"}, wait: 40 * time.Second},
		"429, reset as a wait":          {status: 429, header: map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "25"}, wait: 25 * time.Second},
		"429, the past":                 {status: 429, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": unix(-time.Hour)}, wait: time.Second},
		"429, Retry-After: 0":           {status: 429, header: map[string]string{"Retry-After": "0"}, wait: time.Second},
		"429, no number":                {status: 429, header: map[string]string{"Retry-After": "soon"}, wait: time.Minute},
		"429, milliseconds":             {status: 429, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": unix(0) + "000"}, wait: 24 * time.Hour},
		"a plain 403":                   {status: 403, header: map[string]string{"X-RateLimit-Remaining": "17", "X-RateLimit-Reset": unix(time.Hour)}, body: `{"message":"Must have admin rights"}`, kind: forge.ErrForbidden},
		"404":                           {status: 404, kind: forge.ErrNotFound},
		"500":                           {status: 500, body: `{"message":"rate limit exceeded"}`, kind: slot.ErrUnknown},
		"429 without a limit of header": {status: 429, header: map[string]string{"X-RateLimit-Remaining": "12", "X-RateLimit-Reset": unix(time.Hour)}, wait: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			limited := true
			r := newRig(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				if !limited {
					return
				}
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			_, err := r.get(t)
			if !errors.Is(err, slot.ErrUnknown) {
				t.Fatalf("no reading may rest on it: %v", err)
			}
			limited = false
			if c.wait == 0 {
				if !errors.Is(err, c.kind) || errors.Is(err, forge.ErrLimited) {
					t.Errorf("%v", err)
				}
				if _, err := r.get(t); err != nil {
					t.Errorf("it goes on: %v", err)
				}
				return
			}
			limit := new(forge.LimitError)
			if !errors.As(err, &limit) || !limit.Until.Equal(noon.Add(c.wait)) {
				t.Fatalf("%v, wanted a wait of %v", err, c.wait)
			}
			r.clock.StepWall(48 * time.Hour) // the calendar shortens nothing
			r.clock.Advance(c.wait - time.Millisecond)
			if _, err := r.get(t); !errors.Is(err, forge.ErrLimited) || r.asked.Load() != 1 {
				t.Errorf("a moment before: %v, %d requests", err, r.asked.Load())
			}
			r.clock.Advance(time.Millisecond)
			if _, err := r.get(t); err != nil {
				t.Errorf("it goes on: %v", err)
			}
		})
	}
}

// GitHub: a secondary limit that comes again is waited for longer; a success ends that.
func TestC45_UnnamedLimitsGrow(t *testing.T) {
	limited := true
	r := newRig(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		if limited {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	step := func(want time.Duration) {
		t.Helper()
		_, err := r.get(t)
		limit := new(forge.LimitError)
		if !errors.As(err, &limit) || limit.Until.Sub(r.clock.Wall()) != want {
			t.Errorf("%v, wanted %v", err, want)
		}
		r.clock.Advance(want)
	}
	for _, minutes := range []time.Duration{1, 2, 4, 8, 15, 15} {
		step(minutes * time.Minute)
	}
	limited = false
	if _, err := r.get(t); err != nil {
		t.Fatal(err)
	}
	limited = true
	step(time.Minute)
}

// The last request of an hour is answered; the next is not sent.
func TestC45_TheLastOne(t *testing.T) {
	r := newRig(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(noon.Add(time.Minute).Unix(), 10))
		fmt.Fprint(w, "well")
	})
	if got, err := r.get(t); err != nil || got != "well" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := r.get(t); !errors.Is(err, forge.ErrLimited) || r.asked.Load() != 1 {
		t.Errorf("%v", err)
	}
}

// C45: GraphQL says RATE_LIMITED in a 200; its client tells us.
func TestC45_ToldByABody(t *testing.T) {
	var counts []string
	r := newRig(t, nil, func(http.ResponseWriter, *http.Request) {})
	tr, err := transport.New(transport.Options{API: r.API(), Clock: r.clock,
		Count: func(status int, limited bool) { counts = append(counts, fmt.Sprint(status, limited)) }})
	if err != nil {
		t.Fatal(err)
	}
	r.Transport = tr
	told := func(wait time.Duration) *forge.LimitError {
		return tr.LimitTold(http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {strconv.FormatInt(noon.Add(wait).Unix(), 10)}})
	}
	if limit := told(10 * time.Minute); !limit.Until.Equal(noon.Add(10 * time.Minute)) {
		t.Error(limit)
	}
	if limit := told(-time.Minute); !limit.Until.Equal(noon.Add(10 * time.Minute)) {
		t.Errorf("a shorter one shortens nothing: %v", limit)
	}
	if _, err := r.get(t); !errors.Is(err, forge.ErrLimited) || len(counts) != 0 {
		t.Errorf("%v, counted %v", err, counts)
	}
	r.clock.Advance(10 * time.Minute)
	if _, err := r.get(t); err != nil || fmt.Sprint(counts) != "[200 false]" {
		t.Errorf("%v, counted %v", err, counts)
	}
	if limit := tr.LimitTold(nil); !limit.Until.Equal(r.clock.Wall().Add(time.Minute)) {
		t.Errorf("a limit without a time: %v", limit)
	}
}

func TestConnectionsThatFail(t *testing.T) {
	r := newRig(t, nil, func(http.ResponseWriter, *http.Request) {})
	var count int
	tr, err := transport.New(transport.Options{API: r.API(), Clock: clock.NewManual(noon), Count: func(status int, _ bool) { count += 1 + status }})
	if err != nil {
		t.Fatal(err)
	}
	r.Transport = tr
	r.forge.Close()
	_, err = r.get(t)
	e := new(forge.Error)
	if !errors.As(err, &e) || e.Kind != nil || e.Status != 0 || !errors.Is(err, slot.ErrUnknown) || count != 1 {
		t.Errorf("%#v, counted %d", err, count)
	}
}
