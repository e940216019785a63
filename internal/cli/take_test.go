package cli

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func request(a *app.App, ref slot.Ref, kind slot.Kind) claim.Request {
	return claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: kind, Run: claim.NewID(), TTL: time.Minute, Grace: time.Second,
		Holder: slot.Holder{Host: "host-a", Process: a.Self, UID: os.Geteuid(), Path: slot.PathManual, Command: "sh"},
	}
}

// P11: who may not end a tree does not take its slot by force either.
func TestTakeByForce_OfAnotherUser(t *testing.T) {
	a := testApp(t)
	ref := testRef(t, "octo-org/octo-repo#12")
	theirs := request(a, ref, slot.Supervised)
	if _, err := a.Store.Acquire(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	c := &cli{}
	_, _, err := c.takeByForce(t.Context(), a, request(a, ref, slot.Supervised), taking{force: true, uid: os.Geteuid() + 1})
	if !errors.Is(err, slot.ErrNotAllowed) || exitCode(err) != exitNotAllowed {
		t.Errorf("got %v, want not allowed", err)
	}
	if _, err := a.Store.Check(t.Context(), theirs.Key); err != nil {
		t.Errorf("the holder: %v", err)
	}
}

// A claim is handed over as it is now: not as it was granted, and not if it is
// lost.
func TestFresh(t *testing.T) {
	a := testApp(t)
	ref := testRef(t, "octo-org/octo-repo#12")
	req := request(a, ref, slot.Detached)
	req.Run = ""
	g, err := a.Store.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	before := g.Claim.ExpiresAt
	for end := time.Now().Add(5 * time.Second); ; {
		cl, err := fresh(t.Context(), a, g.Claim, req.Key)
		if err != nil {
			t.Fatal(err)
		}
		if cl.ExpiresAt.After(before) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("expires at %v, as when granted", cl.ExpiresAt)
		}
	}
	other := request(a, ref, slot.Detached)
	other.Run = ""
	other.Displace = &claim.Displace{Claim: req.Key.Claim, Why: claim.Forced, Detail: "test"}
	if _, err := a.Store.Acquire(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := fresh(t.Context(), a, g.Claim, req.Key); !errors.Is(err, slot.ErrLost) {
		t.Errorf("got %v, want lost", err)
	}
	if _, err := a.Store.Check(t.Context(), other.Key); err != nil {
		t.Errorf("who took it: %v", err)
	}
}
