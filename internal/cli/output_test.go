package cli

import (
	"bytes"
	"testing"
	"time"
)

// P12: a stranger's text is one line on a terminal, and gives it no orders.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                 "plain",
		"a\nb\tc\rd":            "a b c d",
		"\x1b[2Jgone\x07\x9b1m": "[2Jgone\ufffd1m",
		"rtl\u202eevil\u2066":   "rtlevil",
		"é ü 漢":                 "é ü 漢",
		"line\u2028sep":         "linesep",
		"del\x7f":               "del",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("X", 5*3600+1800)
	at := time.Date(2026, 3, 29, 7, 30, 0, 5e6, zone)
	if got := stamp(at); got == nil || *got != "2026-03-29T02:00:00.005Z" {
		t.Errorf("stamp = %v", got)
	}
	if stamp(time.Time{}) != nil || text("") != nil || number(0) != nil {
		t.Error("what is absent is not null")
	}
	if got := when(time.Time{}); got != "-" {
		t.Errorf("when(none) = %q", got)
	}
	for d, want := range map[time.Duration]string{
		-time.Hour:                    "0s", // C22: no negative age
		1234567 * time.Nanosecond:     "1ms",
		90*time.Second + 4e8:          "1m30s",
		26*time.Hour + 40*time.Second: "1d2h1m",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	var b bytes.Buffer
	if err := table(&b, "  ", [][]string{{"since", "now"}, {"renewed", "never"}}); err != nil {
		t.Fatal(err)
	}
	if want := "  since    now\n  renewed  never\n"; b.String() != want {
		t.Errorf("table = %q", b.String())
	}
}

// C60: what is given to be pasted into a shell is one word there.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"github.com/a/b#1": "github.com/a/b#1",
		"":                 "''",
		"a b":              "'a b'",
		"it's":             `'it'\''s'`,
		"$(id)":            "'$(id)'",
		"h/a/b!1":          "'h/a/b!1'",
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "漢漢漢": "漢漢漢", "漢漢漢漢": "漢漢…"} {
		if got := cut(in, 3); got != want {
			t.Errorf("cut(%q) = %q, want %q", in, got, want)
		}
	}
}
