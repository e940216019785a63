package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
)

// renewals: number 15, a broker's client that holds ten thousand claims.
func renewals(ctx context.Context, b *Bench) (_ []report.Row, err error) {
	const claims, callers, ttl = 10_000, 16, 60 * time.Second
	const rounds, every = 2, ttl / 3
	d, err := b.newDaemon(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.end()) }()
	if err := d.serve(ctx); err != nil {
		return nil, err
	}
	type owned struct {
		Claim string `json:"claim"`
		Token string `json:"token"`
	}
	all := make([]owned, claims)
	begun := time.Now()
	err = together(callers, func(c int) error {
		for i := c; i < claims; i += callers {
			wish := map[string]string{"ref": refOf("renewed", i).String(), "ttl": ttl.String()}
			if err := d.call(ctx, "claims", wish, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, d.said(err)
	}
	claimed := time.Since(begun)
	if err := d.still(ctx); err != nil {
		return nil, err
	}
	begin := time.Now()
	before, err := cpuOf([]*exec.Cmd{d.cmd})
	if err != nil {
		return nil, err
	}
	var took []float64
	for range rounds {
		at := time.Now()
		var out struct {
			Results []struct {
				Claim string          `json:"claim"`
				Lease json.RawMessage `json:"lease"`
			} `json:"results"`
		}
		if err := d.call(ctx, "claims/renew", map[string]any{"claims": all}, &out); err != nil {
			return nil, d.said(err)
		}
		for _, r := range out.Results {
			if string(r.Lease) == "null" || len(r.Lease) == 0 {
				return nil, fmt.Errorf("%s was not renewed", r.Claim)
			}
		}
		if len(out.Results) != claims {
			return nil, fmt.Errorf("%d of %d were renewed", len(out.Results), claims)
		}
		took = append(took, ms(time.Since(at)))
		select {
		case <-time.After(every - time.Since(at)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	after, err := cpuOf([]*exec.Cmd{d.cmd})
	if err != nil {
		return nil, err
	}
	share := 100 * (after - before).Seconds() / time.Since(begin).Seconds()
	row := report.One(report.Row{What: "10,000 claims renewed every 20 s: the daemon's processor", Unit: "%", Limit: "5 % of one core"}, share, 5).
		With("one batch of them all", report.Median(took), "ms").
		With("processor time of one renewal", ms(after-before)/rounds/claims, "ms").
		With("claimed at", claims/claimed.Seconds(), "/s")
	return []report.Row{row}, nil
}

// call asks the API.
func (d *daemon) call(ctx context.Context, what string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.host+"/api/v1/"+what, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", what, answer.Status, text)
	}
	return json.Unmarshal(text, out)
}
