package app

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/reserve"
	"github.com/oneslot/oneslot/internal/slot"
)

func saidOf(t *testing.T, a *App, ref slot.Ref) (list []slot.Decision) {
	t.Helper()
	all, err := a.Store.Decisions(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if strings.HasPrefix(d.Reason, "reservation: ") {
			list = append(list, d)
		}
	}
	return list
}

func ours(a *App) *Reservations {
	return &Reservations{app: a, log: slog.New(slog.DiscardHandler), seen: seen{list: map[string]bool{}}}
}

// Strangers' comments are on record once, by whatever process, and do not fill the
// store.
func TestC13_SuspicionsAreBounded(t *testing.T) {
	a, _ := from(t, "")
	ref, err := slot.ParseCanonical("forge.test/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	c := slot.Claim{ID: "c", Ref: ref, Holder: slot.Holder{Path: slot.PathPoll}}
	r := ours(a)
	list := []reserve.Suspicion{{Comment: 1, Login: "mallory", Why: "copied"}, {Comment: 2, Login: "mallory", Why: "quoted"}}
	for range 3 {
		r.suspect(t.Context(), c, ref, list, nil)
		ours(a).suspect(t.Context(), c, ref, nil, &reserve.BusyError{Ref: ref, Suspicious: list}) // another process
	}
	if got := saidOf(t, a, ref); len(got) != 2 || got[0].Count > 1 || !strings.Contains(got[0].Detail, "comment 1 by mallory") {
		t.Errorf("%+v", got)
	}
	for n := range int64(100) {
		list = append(list, reserve.Suspicion{Comment: 10 + n, Login: "mallory", Why: fmt.Sprintf("copy %d", n)})
	}
	for range 2 {
		r.suspect(t.Context(), c, ref, list, nil)
		ours(a).suspect(t.Context(), c, ref, list, nil)
	}
	if got := saidOf(t, a, ref); len(got) != mostSuspect+1 || !strings.Contains(got[mostSuspect].Detail, "more than 5") {
		t.Errorf("%d decisions, the last %+v", len(got), got[len(got)-1])
	}
}

// What becomes of a reservation is on record at the ref of its run, and told to whoever
// runs it.
func TestReservationReports(t *testing.T) {
	a, _ := from(t, "")
	ref, err := slot.ParseCanonical("forge.test/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	r := ours(a)
	var heard []string
	ad := &Admission{app: a, reserve: r}
	ad.Keep(t.Context(), "mine", func(what string) { heard = append(heard, what) })()
	for _, id := range []string{"mine", "another's"} {
		c := slot.Claim{ID: id, Ref: ref}
		r.report(t.Context(), reserve.Report{Claim: recordOf(c, ref), Ref: ref, Path: slot.PathPoll, Comment: 7, What: "lost", Why: "it was taken away"})
	}
	if len(heard) != 1 || !strings.HasPrefix(heard[0], "lost: comment 7 on forge.test/octo/hello#1: it was taken away; ") {
		t.Errorf("%q", heard)
	}
	if got := saidOf(t, a, ref); len(got) == 0 || got[0].Reason != "reservation: lost" || got[0].Path != slot.PathPoll || !strings.Contains(got[0].Next, "goes on") {
		t.Errorf("%+v", got)
	}
}
