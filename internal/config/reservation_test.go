package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func TestParseRecheck(t *testing.T) {
	for s, want := range map[string]string{
		"5s-15s": "5s-15s", "1s": "1s", "0": "0", "0s": "0", "1s-1s": "1s",
		"": "", "0-5s": "", "5s-0": "", "15s-5s": "", "-5s": "", "5s-": "", "five": "", "5": "",
	} {
		r, err := parseRecheck(s)
		if got := formatRecheck(r); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q = %s, %v", s, got, err)
		}
	}
}

// Flag beats environment beats file, with a key that stands in a table, too.
func TestRecheckPrecedence(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "[reservation]\nrecheck = '1s-2s'")
	says := func() string {
		r := mustLoad(t, w).Reservation.Recheck
		return formatRecheck(r.V) + " " + strings.ReplaceAll(r.Origin.String(), w.root, "")
	}
	wantLine(t, says(), "1s-2s /"+user+":2")
	w.vars["ONESLOT_RECHECK"] = "3s"
	wantLine(t, says(), "3s environment ONESLOT_RECHECK")
	w.Flags["reservation.recheck"] = "0"
	wantLine(t, says(), "0 flag --recheck")
	w.Flags["reservation.recheck"] = ""
	wantLine(t, refused(t, w), "flag --recheck: is empty; leave it out for the default")
	delete(w.Flags, "reservation.recheck")
	w.vars["ONESLOT_RECHECK"] = "x"
	wantLine(t, refused(t, w), "environment ONESLOT_RECHECK: \"x\": not a range such as 5s-15s, a duration, or 0")
	w.vars["ONESLOT_RECHECK"] = "8m"
	wantLine(t, refused(t, w), "environment ONESLOT_RECHECK: reservation.ttl: 2h is less than 16 times the longest recheck, which is 8m")
	w.Flags["hook.name"], w.Flags["reservation.recheck.x"] = "a", "a"
	if got := refused(t, w); strings.Count(got, "sets nothing that is known") != 2 {
		t.Error(got)
	}
}

// Without a key nothing tells our markers from a stranger's (C13).
func TestReservationKey(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, forgeOf+"[reservation]\nenabled = true")
	wantLine(t, refused(t, w), "/"+user+`:5:1: reservation.enabled: needs reservation.key, { file = "PATH" } or { env = "NAME" }, the same on all hosts`)
	w.write(t, user, forgeOf+"[reservation]\nenabled = true\nkey.env = 'K'")
	for value, want := range map[string]string{"0123456789abcde": "has at least 16 bytes", "": "the secret is empty", "0123456789abcdef": ""} {
		w.vars["K"] = value
		got, _, err := mustLoad(t, w).ReservationKey()
		switch {
		case want == "" && (err != nil || string(got) != value):
			t.Errorf("%q, %v", got, err)
		case want != "" && (!errors.Is(err, slot.ErrConfig) || got != nil || !strings.Contains(err.Error(), want) || value != "" && strings.Contains(err.Error(), value)):
			t.Errorf("%q, %v", got, err)
		}
	}
	w.write(t, user, "")
	if _, _, err := mustLoad(t, w).ReservationKey(); err == nil {
		t.Error("none, and no error")
	}
}
