package hook

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/markup"
)

// C32: commands inside quotes and code.
func TestC32_Commands(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"alone", "/run", "/run"},
		{"last line", "please\n/run", "/run"},
		{"CRLF", "hello\r\n/run fast \r\nbye\r\n", "/run fast"},
		{"lone CR", "hello\r/run\rbye", "/run"},
		{"twice", "/run one\n/run two", "/run one"},
		{"after a quote", "> why?\n/run", "/run"},
		{"after a closed fence", "```\nx\n```\n/run", "/run"},
		{"after a longer closing fence", "```\nx\n`````  \n/run", "/run"},
		{"after an HTML comment", "<!-- x -->\n/run", "/run"},
		{"after a backtick that closes nothing", "it`s\n\n/run", "/run"},
		{"after an inline fence", "```x``` y\n/run", "/run"},
		{"after an escaped comment", "\\<!-- x\n/run", "/run"},
		{"with code as an argument", "/run `x`", "/run `x`"},
		{"tab", "/run\tx", "/run\tx"},
		{"below quoted mail", "On Monday Bob wrote:\n> /run a\n\n/run b", "/run b"},
		{"two words", "/one slot now", ""},
		{"no quote of mail", "On second thought\n/run", "/run"},

		{"longer word", "/runner", ""},
		{"point", "/run.", ""},
		{"in a word", "x/run", ""},
		{"in a line", "do /run", ""},
		{"space before", " /run", ""},
		{"other case", "/RUN", ""},
		{"fence", "```\n/run\n```", ""},
		{"tilde fence", "~~~ sh\n/run\n~~~", ""},
		{"other fence inside", "~~~\n```\n~~\n/run\n~~~", ""},
		{"shorter fence inside", "````\n```\n/run\n````", ""},
		{"open fence", "```\n/run", ""},
		{"fence that seems to close", "```\n``` x\n/run\n```", ""},
		{"indented code", "x\n\n    /run\n", ""},
		{"tab code", "\t/run", ""},
		{"inline code", "`/run`", ""},
		{"inline code over lines", "look: `a\n/run\nb` so", ""},
		{"double inline code over lines", "look: ``a ` b\n/run\n`` so", ""},
		{"quote", "> /run", ""},
		{"quote without a space", ">/run", ""},
		{"quoted fence", "> ```\n> /run", ""},
		{"HTML comment", "<!-- /run -->", ""},
		{"HTML comment over lines", "<!--\n\n/run\n-->", ""},
		{"HTML comment in a line", "x <!--\n/run\n--> y", ""},
		{"HTML comment without an end", "<!--\n/run", ""},
		{"behind an HTML comment", "<!-- a\n-->/run", ""},
		{"quoted mail", "Yes.\n\nOn Mon, 1 Jan, Bob <b@example.com> wrote:\n\n/run", ""},
		{"quoted mail, broken line", "Yes.\n\nOn Mon, 1 Jan, Bob\n<b@example.com> wrote:\n/run", ""},
		{"forwarded mail", "-----Original Message-----\n/run", ""},
		{"empty", "", ""},
		{"NUL", "\x00/run", ""},
	} {
		if got := markup.Command(markup.Spoken(c.text), []string{"/run", ""}); got != c.want {
			t.Errorf("%s: %q has %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"@bot please":              true,
		"hey @Bot, please":         true,
		"(@bot)":                   true,
		"`x` @bot":                 true,
		"@bot":                     true,
		"@bot-two":                 false,
		"@botany":                  false,
		"a@bot":                    false,
		"`@bot`":                   false,
		"> @bot":                   false,
		"```\n@bot\n```":           false,
		"<!-- @bot -->":            false,
		"@`x`bot":                  false,
		"mail me at me@bot.org":    false,
		strings.Repeat("@", 1<<10): false,
	} {
		if got := markup.Mentions(markup.Spoken(text), "bot", ""); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Whatever a comment says, a command is a line of it, and reading takes no time
// that grows faster than the text.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"/run", "```\n/run", "`a\n/run`", "<!--\n/run-->", "On x\nwrote:\n/run", "\\`/run", "~~~~\n~~~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := markup.Spoken(text)
		got := markup.Command(lines, []string{"/run"})
		if got == "" {
			markup.Mentions(lines, "bot", "7")
			return
		}
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		if !strings.Contains("\n"+plain, "\n"+got) || strings.Contains(got, "\n") {
			t.Fatalf("%q is no line of %q", got, text)
		}
		// Quoting all of it takes every command away.
		if c := markup.Command(markup.Spoken("> "+strings.ReplaceAll(plain, "\n", "\n> ")), []string{"/run"}); c != "" {
			t.Fatalf("the quoted text has %q", c)
		}
	})
}
