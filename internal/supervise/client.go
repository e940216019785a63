package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Check asks the supervisor behind the socket whether the claim is still ours.
// The error is nil if it is, slot.ErrLost if it is not, slot.ErrUnknown if there
// was no answer.
func Check(ctx context.Context, socket string, key claim.Key) (Answer, error) {
	return post(ctx, socket, "check", question{Claim: key.Claim, Token: key.Token})
}

// Renew has the claim renewed now. Errors are those of Check.
func Renew(ctx context.Context, socket string, key claim.Key) (Answer, error) {
	return post(ctx, socket, "renew", question{Claim: key.Claim, Token: key.Token})
}

// Release tells the supervisor that the worker is done; said is its outcome, or
// empty. The worker has the grace time to end by itself. Errors are those of
// Check.
func Release(ctx context.Context, socket string, key claim.Key, said slot.Result) (Answer, error) {
	return post(ctx, socket, "release", question{Claim: key.Claim, Token: key.Token, Outcome: said})
}

func post(ctx context.Context, socket, verb string, q question) (Answer, error) {
	unknown := func(err error) (Answer, error) {
		return Answer{State: Unclear, Claim: q.Claim}, &slot.UnknownError{Op: verb, Store: "unix:" + socket, Err: err}
	}
	body, err := json.Marshal(q)
	if err != nil {
		return unknown(err)
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://run/"+verb, bytes.NewReader(body))
	if err != nil {
		return unknown(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return unknown(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, bodyMax))
	if err != nil {
		return unknown(err)
	}
	if resp.StatusCode != http.StatusOK {
		return unknown(fmt.Errorf("answer %s", resp.Status))
	}
	var a Answer
	if err := json.Unmarshal(data, &a); err != nil {
		return unknown(fmt.Errorf("not an answer: %w", err))
	}
	if a.Claim != q.Claim {
		return unknown(fmt.Errorf("an answer about another claim"))
	}
	switch a.State {
	case Ours, Gone, Unclear:
	default:
		return unknown(fmt.Errorf("an answer that says nothing"))
	}
	return a, a.err()
}
