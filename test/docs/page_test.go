package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// block is one fenced block of a page.
type block struct {
	lang  string
	needs string // of an sh block: "systemd" or ""
	text  string
	line  int     // of its first line of text
	shows *string // what an sh block prints, by the text block after it
}

// parse takes a page's blocks out.
func parse(page string) ([]block, error) {
	var list []block
	var open *block
	near := false // nothing but empty lines since the last block
	for i, line := range strings.Split(page, "\n") {
		word, isFence := strings.CutPrefix(line, "```")
		switch {
		case open == nil && isFence:
			b := block{line: i + 2}
			b.lang, b.needs, _ = strings.Cut(word, " ")
			open = &b
		case open != nil && line == "```":
			if last := len(list) - 1; near && open.lang == "text" && list[last].lang == "sh" {
				list[last].shows = &open.text
			} else {
				list = append(list, *open)
			}
			open, near = nil, true
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(strings.TrimLeft(line, " >*-"), "```"):
			return nil, fmt.Errorf("line %d: a fence that is indented or quoted is not looked at", i+1)
		case line != "":
			near = false
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block at line %d does not end", open.line)
	}
	for _, b := range list {
		switch b.lang {
		case "sh", "cron", "text", "toml", "ini", "go":
		default:
			return nil, fmt.Errorf("line %d: nobody looks at a block of %q", b.line, b.lang)
		}
		if b.needs != "" && (b.lang != "sh" || b.needs != "systemd") {
			return nil, fmt.Errorf("line %d: it needs %q?", b.line, b.needs)
		}
	}
	return list, nil
}

// alike says whether what was printed is what the page shows.
func alike(shown, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.Lines(strings.TrimRight(shown, "\n") + "\n") {
		line = strings.TrimRight(line, " \n")
		if line == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
			// Columns are as wide as what is in them.
			parts[i] = regexp.MustCompile(`  +`).ReplaceAllString(parts[i], ` +`)
		}
		pattern.WriteString(strings.Join(parts, `.*`) + ` *\n`)
	}
	pattern.WriteString(`\z`)
	return regexp.MustCompile(pattern.String()).MatchString(strings.TrimRight(printed, "\n") + "\n")
}

func TestParse(t *testing.T) {
	list, err := parse("```sh\na\n```\n\n```text\nb\n```\n\nwords\n\n```text\nc\n```\n\n```sh systemd\nd\n```\n")
	if err != nil || len(list) != 3 {
		t.Fatalf("%v %v", list, err)
	}
	if b := list[0]; b.text != "a\n" || b.shows == nil || *b.shows != "b\n" || b.line != 2 {
		t.Errorf("%+v", b)
	}
	if b := list[1]; b.text != "c\n" || b.lang != "text" {
		t.Errorf("%+v", b)
	}
	if b := list[2]; b.needs != "systemd" || b.shows != nil {
		t.Errorf("%+v", b)
	}
	for _, bad := range []string{"```\na\n```\n", "```bash\na\n```\n", "```sh\na\n", "* ```sh\n", "```sh docker\na\n```\n"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, tc := range []struct {
		shown, printed string
		want           bool
	}{
		{"a\n", "a\n", true},
		{"a\n", "b\n", false},
		{"a\n", "a\nb\n", false},
		{"a … c\n", "a b c\n", true},
		{"a … c\n", "a b\nc\n", false},
		{"a\n…\n", "a\nb\nc\n", true},
		{"…\nc\n", "a\nb\nc\n", true},
		{"a  b\n", "a      b\n", true},
		{"a.c\n", "abc\n", false},
		{"", "", true},
		{"", "a\n", false},
	} {
		if got := alike(tc.shown, tc.printed); got != tc.want {
			t.Errorf("alike(%q, %q) = %v", tc.shown, tc.printed, got)
		}
	}
}
