package remote_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// 10,000 claims of one client, renewed in batches three times in each minute: both
// sides of the connection in percent of one core, all in this process.
func BenchmarkRenewMany(b *testing.B) {
	const many, batch, ttl = 10000, 1000, time.Minute
	clk, err := clock.System()
	if err != nil {
		b.Fatal(err)
	}
	s := serve(b, "tcp", filepath.Join(b.TempDir(), "oneslot.db"), clk, 0)
	store := s.dial(b, clk.BootID())
	var all []wire.OwnedClaim
	for n := range many {
		ref, err := slot.ParseCanonical(fmt.Sprintf("key:%d", n))
		if err != nil {
			b.Fatal(err)
		}
		req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: ttl, Grace: time.Second}
		if _, err := store.Acquire(b.Context(), req); err != nil {
			b.Fatal(err)
		}
		all = append(all, wire.OwnedClaim{Claim: req.Key.Claim, Token: req.Key.Token})
	}
	before := cpu(b)
	for b.Loop() {
		for at := 0; at < many; at += batch {
			renewAll(b, s.address, all[at:at+batch])
		}
	}
	used := (cpu(b) - before) / time.Duration(b.N)
	b.ReportMetric(float64(used)/many, "cpu-ns/renewal")
	b.ReportMetric(100*float64(used)/float64(ttl/3), "%core")
}

func renewAll(b *testing.B, address string, claims []wire.OwnedClaim) {
	b.Helper()
	body, err := json.Marshal(wire.RenewMany{Claims: claims})
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.Post(address+"/api/v1/claims/renew", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	var out wire.Renewed
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		b.Fatal(err)
	}
	for _, r := range out.Results {
		if r.Lease == nil {
			b.Fatalf("%s: %+v", r.Claim, r.Problem)
		}
	}
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
