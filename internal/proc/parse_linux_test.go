package proc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const line = "4242 (%s) %s 1 4242 4242 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 %d 0 8671 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 140732 0\n"

func TestC51_ParseStat(t *testing.T) {
	for _, comm := range []string{"sh", "", ")", "a) (b", ") Z 1 1 1 (", "two\nlines", "x) R 1\n(y", "\x1b[2J", "\xff\xfe"} {
		s, err := parseStat(fmt.Appendf(nil, line, comm, "S", 1))
		if err != nil || s.comm != comm || s.pid != 4242 || s.ppid != 1 || s.pgrp != 4242 || s.ticks != 8671 || s.envEnd != 140732 || s.over() {
			t.Errorf("comm %q: %+v, %v", comm, s, err)
		}
		if strings.ContainsAny(s.command(), "\n\x1b") {
			t.Errorf("comm %q for people: %q", comm, s.command())
		}
	}
	for _, c := range []struct {
		state         string
		threads       int
		over, stopped bool
	}{
		{"R", 1, false, false}, {"S", 3, false, false}, {"D", 1, false, false}, {"I", 1, false, false},
		{"T", 1, false, true}, {"t", 1, false, true},
		{"Z", 1, true, false}, {"Z", 0, true, false}, {"X", 0, true, false}, {"x", 0, true, false},
		{"Z", 3, false, false},
	} {
		s, err := parseStat(fmt.Appendf(nil, line, "sh", c.state, c.threads))
		if err != nil || s.over() != c.over || s.stopped() != c.stopped {
			t.Errorf("%+v: %+v, %v", c, s, err)
		}
	}
	for _, bad := range []string{"", "4242", "4242 (sh", "4242 sh) S", "(sh) S 1", "4242 (sh) S 1 2 3", "x (sh) S 1 4242 4242 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 8671"} {
		if s, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, s)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("sh"), "S", 1)
	f.Add([]byte("a) (b\n"), "Z", 2)
	f.Fuzz(func(t *testing.T, comm []byte, state string, threads int) {
		// Whatever a process calls itself, the rest is read right.
		b := fmt.Appendf(nil, line, comm, "S", 7)
		s, err := parseStat(b)
		if err != nil || s.comm != string(comm) || s.ticks != 8671 || s.threads != 7 {
			t.Errorf("%q: %+v, %v", b, s, err)
		}
		// Whatever the file says, it is read or refused.
		_, _ = parseStat(fmt.Appendf(nil, line, comm, state, threads))
		_, _ = parseStat(comm)
		_, _ = parseStatus(comm)
		_ = s.command()
	})
}

func TestParseStatus(t *testing.T) {
	s, err := parseStatus([]byte("Name:\tsh\nUid:\t1000\t0\t0\t0\nNSpid:\t4242\t17\t1\nNSpgid:\t4242\t17\t0\n"))
	if err != nil || s.uid != 1000 || !slices.Equal(s.pids, []int{4242, 17, 1}) || last(s.pgids) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "Uid:\n", "Uid:\tx\n"} {
		if s, err := parseStatus([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, s)
		}
	}
}

func TestParseEnviron(t *testing.T) {
	for environ, want := range map[string]bool{
		"ONESLOT_RUN=r1":                        true,
		"ONESLOT_RUN=r1\x00":                    true,
		"A=b\x00ONESLOT_RUN=r1\x00C=d\x00":      true,
		"ONESLOT_RUN=r0\x00ONESLOT_RUN=r1":      true,
		"":                                      false,
		"ONESLOT_RUN=r11\x00":                   false,
		"ONESLOT_RUN=r\x00":                     false,
		"XONESLOT_RUN=r1\x00":                   false,
		"A=ONESLOT_RUN=r1\x00":                  false,
		"A=x\nONESLOT_RUN=r1\x00":               false,
		"ONESLOT_RUNS=r1\x00ONESLOT_RUN\x00":    false,
		"ONESLOT_RUN=r1 \x00 ONESLOT_RUN=r1":    false,
		"ONESLOT_RUN =r1\x00oneslot_run=r1":     false,
		"ONESLOT_RUN=r1\nONESLOT_RUN=r2\x00":    false,
		"ONESLOT_RUN=\x00r1\x00=r1\x00\x00\x00": false,
	} {
		if got := hasVariable([]byte(environ), RunVariable, "r1"); got != want {
			t.Errorf("%q: %v", environ, got)
		}
	}
}

func FuzzParseEnviron(f *testing.F) {
	f.Add([]byte("A=b\x00ONESLOT_RUN=r1\x00"), "r1")
	f.Add([]byte("ONESLOT_RUN=r1"), "r")
	f.Fuzz(func(t *testing.T, environ []byte, run string) {
		want := slices.Contains(strings.Split(string(environ), "\x00"), RunVariable+"="+run)
		if got := hasVariable(environ, RunVariable, run); got != want {
			t.Errorf("%q, %q: %v", environ, run, got)
		}
	})
}
