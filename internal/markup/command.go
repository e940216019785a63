package markup

import "strings"

// Command is the first of the lines that begins with one of the commands as a whole
// word, without blanks at its end; "" if none does.
func Command(lines []Line, commands []string) string {
	for _, l := range lines {
		for _, c := range commands {
			rest, ok := strings.CutPrefix(l.Raw, c)
			if ok && c != "" && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
				return strings.TrimRight(l.Raw, " \t")
			}
		}
	}
	return ""
}
