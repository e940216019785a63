package gate_test

import (
	"errors"
	"testing"
	"time"
	_ "time/tzdata" // these tests need zones wherever they run

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", s, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	office := []string{"mon-fri 08:00-18:00"}
	night := []string{"fri 22:00-06:00", "sun 10:00-12:00"}
	for _, c := range []struct {
		hours []string
		at    string // 2026-03-02 is a Monday; clocks change on Sundays 03-29 and 10-25
		next  string // empty: open
	}{
		{office, "2026-03-02 08:00", ""},
		{office, "2026-03-02 17:59", ""},
		{office, "2026-03-02 18:00", "2026-03-03 08:00"},
		{office, "2026-03-06 18:00", "2026-03-09 08:00"},
		{office, "2026-03-27 20:00", "2026-03-30 08:00"}, // over a change of the clocks
		{office, "2026-10-23 20:00", "2026-10-26 08:00"},
		{night, "2026-03-06 23:00", ""},
		{night, "2026-03-07 05:59", ""},
		{night, "2026-03-07 06:00", "2026-03-08 10:00"},
		{night, "2026-03-06 05:00", "2026-03-06 22:00"},                       // Friday's early hours are Thursday's night
		{[]string{"sun 02:30-04:00"}, "2026-03-29 01:59", "2026-03-29 03:00"}, // 02:30 does not exist
		{[]string{"sun 02:10-02:50"}, "2026-03-29 01:00", "2026-04-05 02:10"},
		{[]string{"sat,sun"}, "2026-03-06 12:00", "2026-03-07 00:00"},
		{[]string{"09:00-24:00"}, "2026-03-06 00:00", "2026-03-06 09:00"},
		{[]string{"fri-mon 1:00-2:00"}, "2026-03-03 01:00", "2026-03-06 01:00"},
	} {
		h, err := gate.ParseHours(c.hours, "Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		clk := clock.NewManual(at(c.at))
		for range 2 { // the second answer may be a remembered one
			ans := gate.NewHours(h, clk).Ask(t.Context(), gate.Ask{})
			if c.next == "" {
				wants(t, ans, slot.Proceed, "hours: open") // P9
				continue
			}
			if wants(t, ans, slot.Defer, "hours: closed"); !ans.Until.Equal(at(c.next)) {
				t.Errorf("%v at %s: open again %s, want %s", c.hours, c.at, ans.Until.In(berlin), c.next)
			}
		}
	}
}

func TestHoursRefuses(t *testing.T) {
	for _, lines := range [][]string{{}, {""}, {"08:00-08:00"}, {"24:00-25:00"}, {"8-18"}, {"mon 08:00"}, {"monday 08:00-09:00"},
		{"mon- 08:00-09:00"}, {"mon tue 08:00-09:00"}, {"mon-fri 08:00-18:60"}, {"mon 008:00-09:00"}, {"mon tue"}, {"mon 08:00-18:00 CET"}} {
		if _, err := gate.ParseHours(lines, ""); !errors.Is(err, slot.ErrUsage) {
			t.Errorf("%q: %v", lines, err)
		}
	}
	if _, err := gate.ParseHours([]string{"mon"}, "Mars/Olympus"); !errors.Is(err, slot.ErrUsage) {
		t.Errorf("%v", err)
	}
}

func FuzzParseHours(f *testing.F) {
	f.Add("mon-fri 08:00-18:00", int64(1772500000))
	f.Add("sat,sun 22:00-06:00", int64(0))
	f.Fuzz(func(t *testing.T, line string, unix int64) {
		h, err := gate.ParseHours([]string{line}, "UTC")
		if err != nil {
			return
		}
		at := time.Unix(unix%(1<<40), 0)
		if next := h.Next(at); !h.Open(next) || next.Before(at) || next.Sub(at) > 8*24*time.Hour {
			t.Errorf("%q at %v opens at %v", line, at, next)
		}
	})
}
