package reserve

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

func posted() Marker {
	return Marker{State: Posted, ID: "abc", Posting: time.Minute, TTL: time.Hour, Host: "alpha", Path: "poll"}
}

func running(id int64) Marker {
	m := posted()
	m.State, m.Comment, m.Renewal = Running, id, 3
	return m
}

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func comment(id int64, login, body string) forge.Comment {
	return forge.Comment{ID: id, Author: forge.Person{Login: login}, Body: body, Created: noon, Updated: noon}
}

func TestMarkerReadsWhatItWrote(t *testing.T) {
	for _, m := range []Marker{posted(), running(101)} {
		for _, tail := range []string{"", "\n", "\r\ntext", "\ntext"} {
			line := m.sign(testKey, here(t), "ann")
			got, sum, ok := parse(line + tail)
			if !ok || !got.genuine(testKey, here(t), "Ann", sum) {
				t.Fatalf("%q: %v", line+tail, ok)
			}
			if diff := cmp.Diff(m, got); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// The MAC covers all that decides.
func TestMACCoversAll(t *testing.T) {
	ref, err := slot.ParseCanonical(host + "/octo/hello#70")
	if err != nil {
		t.Fatal(err)
	}
	other, moved := placeOf(ref, forge.Repo{ID: "1001"}), placeOf(issue(t), forge.Repo{ID: "1002"})
	line := running(101).sign(testKey, here(t), "ann")
	sum := line[strings.Index(line, "mac=")+4 : strings.Index(line, " -->")]
	for name, genuine := range map[string]bool{
		"itself":         running(101).genuine(testKey, here(t), "ann", sum),
		"not thread":     !running(101).genuine(testKey, other, "ann", sum),
		"not repository": !running(101).genuine(testKey, moved, "ann", sum),
		"not author":     !running(101).genuine(testKey, here(t), "bob", sum),
		"not key":        !running(101).genuine([]byte("another key of some length"), here(t), "ann", sum),
		"not comment id": !running(102).genuine(testKey, here(t), "ann", sum),
	} {
		if !genuine {
			t.Error(name)
		}
	}
	for name, change := range map[string]func(*Marker){
		"state": func(m *Marker) { m.State = Ended }, "id": func(m *Marker) { m.ID = "abd" },
		"renewal": func(m *Marker) { m.Renewal++ }, "posting": func(m *Marker) { m.Posting *= 2 },
		"ttl": func(m *Marker) { m.TTL *= 2 }, "host": func(m *Marker) { m.Host = "beta" },
		"path": func(m *Marker) { m.Path = "webhook" }, "forced": func(m *Marker) { m.Forced = true },
	} {
		m := running(101)
		change(&m)
		if m.genuine(testKey, here(t), "ann", sum) {
			t.Errorf("%s is not covered", name)
		}
	}
}

// C13: what is forged, quoted, copied or edited changes nothing, and is reported.
func TestC13_ForgedReservations(t *testing.T) {
	ref := here(t)
	real, held := posted().sign(testKey, ref, "ann"), running(101).sign(testKey, ref, "ann")
	ended := running(101)
	ended.State = Ended
	edited := comment(101, "ann", real)
	edited.Updated = noon.Add(3 * time.Second)
	for name, c := range map[string]struct {
		c    forge.Comment
		good bool
	}{
		"ours":                       {comment(101, "ann", real), true},
		"ours, running":              {comment(101, "ann", held+"\ntext"), true},
		"a stranger's copy":          {comment(101, "mallory", real), false},
		"a bot's copy":               {comment(101, "some[bot]", held), false},
		"quoted by ourselves":        {comment(101, "ann", "> "+real), false},
		"in a code fence":            {comment(101, "ann", "```\n"+real+"\n```"), false},
		"below other text":           {comment(101, "ann", "hello\n"+real), false},
		"indented":                   {comment(101, "ann", "    "+real), false},
		"edited, with the old MAC":   {edited, false},
		"running in another comment": {comment(90, "ann", held), false},
		"a stranger's end":           {comment(102, "mallory", ended.sign(testKey, ref, "ann")), false},
		"another key":                {comment(101, "ann", posted().sign([]byte("0123456789abcdef"), ref, "ann")), false},
		"one field more":             {comment(101, "ann", strings.Replace(real, " ttl=", " x=1 ttl=", 1)), false},
		"a number written otherwise": {comment(101, "ann", strings.Replace(real, "renewal=0", "renewal=00", 1)), false},
		"a later version":            {comment(101, "ann", strings.Replace(real, " v1 ", " v2 ", 1)), false},
	} {
		t.Run(name, func(t *testing.T) {
			good, bad := judge(testKey, ref, []forge.Comment{c.c, comment(200, "eve", "nothing to see")})
			if (len(good) == 1) != c.good || (len(bad) == 0) != c.good {
				t.Fatalf("good %+v, bad %+v", good, bad)
			}
			if !c.good && (bad[0].Comment != c.c.ID || bad[0].Login != c.c.Author.Login || bad[0].Why == "") {
				t.Errorf("reported as %+v", bad[0])
			}
		})
	}
}

// C16: one order for all readers, by the forge's ids; a posted marker counts in its
// lowest comment alone.
func TestC16_OneOrder(t *testing.T) {
	ref := here(t)
	b := posted()
	b.ID = "xyz"
	x, y := comment(101, "ann", posted().sign(testKey, ref, "ann")), comment(102, "bob", b.sign(testKey, ref, "bob"))
	copied := comment(103, "ann", x.Body)
	for _, list := range [][]forge.Comment{{x, y, copied}, {copied, y, x}} {
		good, bad := judge(testKey, ref, list)
		if len(good) != 2 || good[0].Comment != 101 || good[1].Comment != 102 || len(bad) != 1 || bad[0].Comment != 103 {
			t.Errorf("good %+v, bad %+v", good, bad)
		}
	}
}

// Whatever stands in a comment, reading it ends well, and only what has our MAC
// counts.
func FuzzParse(f *testing.F) {
	ref := here(f)
	f.Add(posted().sign(testKey, ref, "ann"))
	f.Add(running(101).sign(testKey, ref, "ann") + "\r\ntext")
	f.Add(opening + "v1 state=posted id= renewal=-1 mac= -->")
	f.Fuzz(func(t *testing.T, body string) {
		m, sum, ok := parse(body)
		if !ok {
			return
		}
		first, _, _ := strings.Cut(body, "\n")
		if m.line()+" mac="+sum+" -->" != strings.TrimSuffix(first, "\r") {
			t.Errorf("%q reads as %+v", body, m)
		}
		if m.genuine(testKey, ref, "mallory", sum) {
			t.Errorf("a MAC was guessed: %q", body)
		}
	})
}

// P12: what others say stands in a fence that it cannot close, and within bounds.
func FuzzText(f *testing.F) {
	f.Add("fixes #12 @all\n/close\n````\n```", "https://forge.test/x", 300)
	f.Add("\x00\u202e\xff\r\n", "javascript:alert(1)", 0)
	f.Fuzz(func(t *testing.T, said, link string, limit int) {
		limit = min(max(limit, 0), 70000)
		m := running(101)
		m.State, m.Forced = Ended, true
		r := record{Ref: issue(t), Login: "ann", Marker: m, Since: noon, Reason: said, End: &End{Outcome: said, Summary: said, Link: link}}
		text := r.text(limit)
		if !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
		if base := len(record{Marker: m, Since: noon, End: &End{Outcome: said, Link: link}}.text(0)); len(text) > max(limit, base) {
			t.Errorf("%d bytes of %d", len(text), limit)
		}
		for _, line := range outside(text) {
			if strings.ContainsAny(strings.ReplaceAll(line, "<"+safeLink(link)+">", ""), "@#<>") || strings.HasPrefix(line, "/") {
				t.Errorf("a line of its own: %q", line)
			}
		}
	})
}

// outside gives the lines of a text that stand in no fence.
func outside(text string) (lines []string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
		case strings.HasPrefix(line, "```"):
			fence = line
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

func TestBodyFitsTheForge(t *testing.T) {
	th := newThread()
	for _, limit := range []int{1000, 65536} {
		r := th.reserver(t, "ann", func(o *Options) { o.Caps.Limits.Comment = limit })
		m := running(101)
		m.State = Ended
		body := r.body(record{Ref: issue(t), Login: "ann", Marker: m, Since: noon, End: &End{Outcome: "done", Summary: strings.Repeat("é", 5000)}})
		if len(body) > limit || !strings.Contains(body, "é…\n```\n") || !utf8.ValidString(body) {
			t.Errorf("limit %d: %d bytes, ends in %q", limit, len(body), body[len(body)-20:])
		}
	}
}

func TestLabels(t *testing.T) {
	for in, want := range map[string]string{"": "unknown", "alpha": "alpha", "a b@c": "a_b_c", "a--b": "a-_b", "--->": "-_-_"} {
		if got := word(in); got != want || !isWord(got) {
			t.Errorf("word(%q) = %q", in, got)
		}
	}
	if got := word(strings.Repeat("x", 100)); !isWord(got) {
		t.Errorf("%q", got)
	}
}

func TestOptions(t *testing.T) {
	th := newThread()
	good := th.reserver(t, "ann").o
	for name, change := range map[string]func(*Options){
		"no key": func(o *Options) { o.Key = nil }, "short key": func(o *Options) { o.Key = []byte("short") },
		"range": func(o *Options) { o.High = o.Low - 1 }, "ttl": func(o *Options) { o.TTL = time.Minute },
		"no folder": func(o *Options) { o.Dir = "" }, "posting": func(o *Options) { o.Posting = time.Second },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "reservation") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
