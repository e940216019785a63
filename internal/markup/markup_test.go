package markup_test

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/markup"
)

// said joins what is spoken of a text, with a dot for each thing that was taken out.
func said(text string) string {
	var lines []string
	for _, l := range markup.Spoken(text) {
		lines = append(lines, strings.ReplaceAll(l.Free, "\x00", "·"))
	}
	return strings.Join(lines, "|")
}

// C32: what stands in code, quotes, quoted mail and HTML comments is not said.
func TestC32_Spoken(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nb\rc":                        "a|b|c",
		"a\n\n> b\nc":                      "a||c",
		"```go\na\n```\nb":                 "b",
		"~~~\na\n```\n~~~~\nb":             "b",
		"```\na":                           "",
		"    a\n\tb\nc":                    "c",
		"a `b` c":                          "a · c",
		"a `` b ` c `` d":                  "a · d",
		"a `b\nc` d\ne":                    "a · d|e",
		"a `b\n\nc` d":                     "a `·b||c`· d",
		"a <!-- b\nc --> d\ne":             "a · d|e",
		"a <!-- b":                         "a ",
		"\\<!-- a":                         "\\<·!-- a",
		"a\nOn Monday, Bob wrote:\nb":      "a",
		"a\nOn Monday\nBob wrote:\n> b\nc": "a|On Monday|Bob wrote:|c",
		"a\n-----Original Message-----\nb": "a",
		"":                                 "",
	} {
		if got := said(text); got != want {
			t.Errorf("%q says %q, not %q", text, got, want)
		}
	}
	if got := markup.Spoken("<!-- x -->\n`y` <!-- z"); len(got) != 2 || got[0].Raw != "<!-- x -->" || got[1].Raw != "`y` <!-- z" {
		t.Errorf("%q", got)
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"@bot please": true, "hey @Bot, please": true, "(@bot)": true, "`x` @bot": true,
		"@bot-two": false, "@botany": false, "a@bot": false, "`@bot`": false, "> @bot": false,
		"<!-- @bot -->": false, "@`x`bot": false, "@": false, "": false,
	} {
		if got := markup.Mentions(markup.Spoken(text), "other", "bot", ""); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if markup.Mentions(markup.Spoken("@bot")) {
		t.Error("nobody is mentioned by nobody's name")
	}
}

// Whatever is written: no line is made up, and nothing is left of a text that is
// quoted as a whole.
func FuzzSpoken(f *testing.F) {
	for _, s := range []string{"a", "```\na", "`a\nb`", "<!--\na-->", "On x\nwrote:\nb", "\\`a", "~~~~\n~~~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		for _, l := range markup.Spoken(text) {
			if !strings.Contains("\n"+plain+"\n", "\n"+l.Raw+"\n") || strings.Contains(l.Free, "\n") {
				t.Fatalf("%q: %q", text, l)
			}
		}
		if got := markup.Spoken("> " + strings.ReplaceAll(plain, "\n", "\n> ")); len(got) != 0 {
			t.Fatalf("the quoted text says %q", got)
		}
	})
}
