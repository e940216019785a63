package doctor

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Redacted is what stands in a secret's place.
const Redacted = "[redacted]"

// Redactor takes secrets out of text: the values that it was given, and whatever
// looks like the token of a service that is well known.
type Redactor struct {
	values [][]byte
	shapes []*regexp.Regexp
}

// secretMin is the fewest bytes of a value that is taken for a secret: what is
// shorter would take words apart, and protects nothing.
const secretMin = 4

// NewRedactor makes a redactor of these values, also as JSON writes them, without
// white space around them, and each long line of theirs alone.
func NewRedactor(values ...[]byte) *Redactor {
	r := &Redactor{shapes: shapes()}
	for _, v := range values {
		v = bytes.TrimSpace(v)
		r.add(v)
		for line := range bytes.Lines(v) {
			if line = bytes.TrimSpace(line); len(line) >= 16 {
				r.add(line)
			}
		}
	}
	// The longest first, so that none is cut in two by a shorter one.
	slices.SortFunc(r.values, func(a, b []byte) int { return len(b) - len(a) })
	return r
}

func (r *Redactor) add(v []byte) {
	if len(v) < secretMin {
		return
	}
	r.values = append(r.values, v)
	for _, html := range []bool{false, true} { // JSON is written both ways
		var quoted bytes.Buffer
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(html)
		if enc.Encode(string(v)) == nil {
			r.values = append(r.values, bytes.TrimSuffix(quoted.Bytes()[1:], []byte("\"\n")))
		}
	}
}

// shapes are those of tokens that forges and models give out, of credentials in an
// address, and of what a program says that it keeps secret.
func shapes() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|gldt-|glrt-|whsec_|xox[abprs]-|sk-|AKIA)[A-Za-z0-9_\-]{12,}`),
		regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`),
		regexp.MustCompile(`(://)[^/\s"@:]*:[^/\s"@]+@`),
		regexp.MustCompile(`(?i)(\bauthorization: *(?:bearer|basic|token) +)[^\s"\\]+`),
		regexp.MustCompile(`(?i)([A-Z0-9_]*(?:token|secret|password|passwd|api_?key)[A-Z0-9_]*=)[^\s"'\\]+`),
	}
}

// Redact gives the text without secrets.
func (r *Redactor) Redact(text []byte) []byte {
	for _, v := range r.values {
		text = bytes.ReplaceAll(text, v, []byte(Redacted))
	}
	for _, shape := range r.shapes {
		text = shape.ReplaceAll(text, []byte("${1}"+Redacted))
	}
	return text
}

// SecretVariables picks the values of those variables whose name says that they
// are secret.
func SecretVariables(environ []string) (values [][]byte) {
	secretName := regexp.MustCompile(`(?i)(token|secret|passw|credential|_key$|apikey)`)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if secretName.MatchString(name) && len(value) >= 8 {
			values = append(values, []byte(value))
		}
	}
	return values
}
