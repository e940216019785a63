package rundir

import (
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"
)

func FuzzIdentity(f *testing.F) {
	f.Add([]byte(`{"boot":"b","supervisor":{"boot":"b","ns":1,"pid":2,"ticks":3},"pgid":2}`))
	f.Add([]byte(`{"boot":"b","supervisor":{"pid":-1}}`))
	f.Add([]byte(`{"pgid":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := parseIdentity(data)
		if err != nil {
			return
		}
		if id.Supervisor.PID < 1 || id.Worker.PID < 0 || id.Warden.PID < 0 || id.Group < 0 || id.Group == 1 || id.Boot == "" {
			t.Errorf("accepted %+v", id)
		}
		again, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseIdentity(again); err != nil || back != id {
			t.Errorf("%+v came back as %+v, %v", id, back, err)
		}
	})
}

func FuzzOutcome(f *testing.F) {
	f.Add([]byte(`{"result":"done","exit":0}`))
	f.Add([]byte(`{"result":"failed","signal":"SIGKILL","cost_usd":-1}`))
	f.Add([]byte(`{"result":"nothing"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := parseOutcome(data)
		if err != nil {
			return
		}
		if out.Result == "" || out.RetryAfter < 0 || out.Tokens < 0 || !(out.CostUSD >= 0) {
			t.Errorf("accepted %+v", out)
		}
		if _, err := json.Marshal(out); err != nil {
			t.Error(err)
		}
	})
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"summary":"s","cost_usd":1.5,"tokens":3,"retry_after":"90s","outcome":"later"}`))
	f.Add([]byte(`{"summary":7,"retry_after":1e300}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _ := parseResult(data)
		if len(r.Summary) > summaryMax || len(r.PR) > prMax || !utf8.ValidString(r.Summary) || !utf8.ValidString(r.PR) {
			t.Errorf("text %q, %q", r.Summary, r.PR)
		}
		if !(r.CostUSD >= 0) || math.IsInf(r.CostUSD, 0) || r.Tokens < 0 || r.RetryAfter < 0 || r.RetryAfter > retryAfterMax {
			t.Errorf("numbers %+v", r)
		}
	})
}
