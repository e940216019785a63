package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/doctor"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/slot"
)

// What a worker prints does nothing to a terminal, wherever its writes are cut.
func TestPlainWriterHidesControls(t *testing.T) {
	const in = "a\x1b[31mb\r\n\tç\u009b2J\u202eé€😀\xff."
	const want = "a[31mb\n\tç2Jé€😀\ufffd."
	for cut := range len(in) + 1 {
		var out bytes.Buffer
		w := &plainWriter{w: &out}
		for _, part := range []string{in[:cut], in[cut:]} {
			if n, err := io.WriteString(w, part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Errorf("cut at %d: %q", cut, out.String())
		}
	}
}

// P10: decisions in words.
func TestHistoryInWords(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 40, 0, 0, time.Local)
	at := func(min int) time.Time { return now.Add(time.Duration(min-40) * time.Minute) }
	list := []slot.Decision{
		{At: now.Add(-24 * time.Hour), Verdict: slot.Proceed, Reason: "free", Path: "manual", Run: "r0", Next: "the worker starts", Count: 1},
		{At: at(31), LastAt: at(35), Verdict: slot.Defer, Reason: "held", Path: "poll", Run: "r0", Detail: "sh (supervisor pid 7) on h, path manual", Next: "asks again", Count: 14},
		{At: at(35), Verdict: slot.Defer, Reason: "held", Path: "manual", Run: "r0", Detail: "sh", Next: "nothing started; the caller was told and may ask again", Count: 1},
		{At: at(36), Verdict: slot.Ended, Reason: "stop", Path: "manual", Run: "r0", Detail: "stopped by a@h", Count: 1},
		{At: at(37), Verdict: slot.Proceed, Reason: "forced", Path: "manual", Detail: "it \x1b[2Jhung", Count: 1},
		{At: at(38), Verdict: slot.Defer, Reason: "hold", Path: "manual", Detail: "put on hold by a@h", Count: 1},
	}
	var got []string
	for _, row := range history(list, []slot.Run{{ID: "r0", Holder: slot.Holder{Command: "sh"}}}, now) {
		got = append(got, strings.Join(row, " | "))
	}
	want := []string{
		"2026-02-28 10:40:00 | started (free) | run r0 by sh, manual — the worker starts",
		"10:31:00 | deferred x14 (held), last 10:35:00 | poll: sh (supervisor pid 7) on h, path manual has it, run r0 — asks again",
		"10:35:00 | refused (held) | manual: sh has it, run r0 — nothing started; the caller was told and may ask again",
		"10:36:00 | asked to stop | run r0, manual: stopped by a@h",
		"10:37:00 | claimed (forced) | manual: it [2Jhung",
		"10:38:00 | put on hold | manual: put on hold by a@h",
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("line %d:\n got %q\nwant %q", i, got[i], want[i])
		}
	}
}

func TestDoctorExitCodes(t *testing.T) {
	fail := func(check, finding string) doctor.Line {
		return doctor.Line{Check: check, Finding: finding, Status: doctor.Fail}
	}
	for _, c := range []struct {
		lines []doctor.Line
		want  int
	}{
		{nil, 0},
		{[]doctor.Line{{Check: "disk", Finding: "disk-low", Status: doctor.Warn}}, 0},
		{[]doctor.Line{fail("disk", "disk-full")}, exitUnknown},
		{[]doctor.Line{fail("store", "store-foreign"), fail("disk", "disk-full")}, exitNotAllowed},
		{[]doctor.Line{fail("configuration", "config-bad"), fail("store", "store-foreign")}, exitConfig},
	} {
		if got := exitCode(doctorError(c.lines)); got != c.want {
			t.Errorf("%v: %d, want %d", c.lines, got, c.want)
		}
	}
}

// Nobody sets a slot free under a worker that he cannot end.
func TestMayEnd(t *testing.T) {
	theirs := slot.Claim{Kind: slot.Supervised, Holder: slot.Holder{UID: 7, Command: "sh", Process: slot.Process{PID: 12}}}
	for uid, may := range map[int]bool{0: true, 7: true, 8: false} {
		err := ending.MayEnd(uid, theirs)
		if (err == nil) != may || !may && (exitCode(err) != exitNotAllowed || !strings.Contains(err.Error(), "process 12 (sh) belongs to")) {
			t.Errorf("user %d: %v", uid, err)
		}
	}
	theirs.Kind = slot.Detached
	if err := ending.MayEnd(8, theirs); err != nil {
		t.Errorf("a claim without a tree: %v", err)
	}
}

// Each verb's help lists its exit codes.
func TestHelpListsExitCodes(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if !cmd.Hidden && cmd.HasParent() && (!strings.Contains(cmd.Long, "\nExit codes:\n") || !strings.Contains(cmd.Long, "  64 ")) {
			t.Errorf("%s: no exit codes in its help", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	c := &cli{World: System()}
	walk(c.root())
}
