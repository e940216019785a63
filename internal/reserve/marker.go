package reserve

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// State is how far a reservation has come.
type State string

const (
	// Posted asks for the slot. It lapses Marker.Posting after the comment was made.
	Posted State = "posted"
	// Running holds it. It lapses Marker.TTL after the comment's last edit.
	Running State = "running"
	// Ended holds nothing any more; the comment says what came of it.
	Ended State = "ended"
)

// Marker is the part of a reservation comment that programs read. It is the
// comment's first line, an HTML comment, and covered by a MAC together with the
// place and the author's login.
type Marker struct {
	State State
	// ID names one reservation. Each post has an id of its own, so that a post
	// whose answer was lost is never mistaken for the next one.
	ID      string
	Renewal int           // how often it was edited while running
	Posting time.Duration // whole milliseconds
	TTL     time.Duration // whole milliseconds
	Host    string        // label of the host that posted it, never identity
	Path    string        // slot.PathPoll, ...
	Forced  bool          // a person passed the reservations of others
	// Comment is the comment that the marker is good in. It is not known before the
	// post was answered: 0 while posted.
	Comment int64
}

// opening begins every marker, of whatever version.
const opening = "<!-- oneslot:reservation "

// maxLine bounds a marker in bytes; what is longer is none of ours.
const maxLine = 1024

// maxTime bounds the times in a marker, so that sums with them stay in range.
const maxTime = 366 * 24 * time.Hour

// line writes all of the marker but its MAC.
func (m Marker) line() string {
	forced := 0
	if m.Forced {
		forced = 1
	}
	return fmt.Sprintf("%sv1 state=%s id=%s renewal=%d posting=%d ttl=%d host=%s path=%s forced=%d comment=%d", opening,
		m.State, m.ID, m.Renewal, m.Posting.Milliseconds(), m.TTL.Milliseconds(), m.Host, m.Path, forced, m.Comment)
}

// sign writes the whole first line of a comment that login writes there.
func (m Marker) sign(key []byte, at place, login string) string {
	line := m.line()
	return line + " mac=" + mac(key, at, login, line) + " -->"
}

// mac covers all that decides. Logins compare without case at every forge. Neither
// places nor logins hold a line break, so no two inputs read the same.
func mac(key []byte, at place, login, line string) string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "oneslot reservation\n%s\n%s\n%s", at, strings.ToLower(login), line)
	return hex.EncodeToString(h.Sum(nil))
}

// parse reads the marker of a comment's body: its first line, to the byte as sign
// writes it. Nothing in it is to be trusted before genuine said yes.
func parse(body string) (m Marker, sum string, ok bool) {
	if !strings.HasPrefix(body, opening) {
		return m, "", false
	}
	line, _, _ := strings.Cut(body[:min(len(body), maxLine+1)], "\n")
	line = strings.TrimSuffix(line, "\r") // editors of web pages write these
	unsigned, sum, found := strings.Cut(line, " mac=")
	sum, closed := strings.CutSuffix(sum, " -->")
	fields := strings.Split(unsigned, " ")
	if len(line) > maxLine || !found || !closed || len(sum) != 2*sha256.Size || len(fields) != 12 {
		return m, "", false
	}
	value := func(i int, name string) string {
		v, _ := strings.CutPrefix(fields[i], name+"=")
		return v
	}
	number := func(i int, name string) int64 {
		n, err := strconv.ParseInt(value(i, name), 10, 64)
		if err != nil || n < 0 {
			return -1 // which line() never writes
		}
		return n
	}
	span := func(i int, name string) time.Duration {
		if n := number(i, name); n <= maxTime.Milliseconds() {
			return time.Duration(n) * time.Millisecond
		}
		return -1
	}
	m = Marker{
		State: State(value(3, "state")), ID: value(4, "id"), Renewal: int(number(5, "renewal")),
		Posting: span(6, "posting"), TTL: span(7, "ttl"), Host: value(8, "host"), Path: value(9, "path"),
		Forced: value(10, "forced") == "1", Comment: number(11, "comment"),
	}
	known := m.State == Posted && m.Comment == 0 || (m.State == Running || m.State == Ended) && m.Comment > 0
	// What would be written otherwise is not ours: one marker has one spelling.
	if !known || m.line() != unsigned || !isWord(m.ID) || !isWord(m.Host) || !isWord(m.Path) || m.Posting <= 0 || m.TTL <= 0 {
		return Marker{}, "", false
	}
	return m, sum, true
}

// genuine reports whether the marker was made with the key, for a comment of login
// there.
func (m Marker) genuine(key []byte, at place, login, sum string) bool {
	return hmac.Equal([]byte(sum), []byte(mac(key, at, login, m.line())))
}

// maxWord bounds a label in a marker, in bytes.
const maxWord = 64

func wordByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isWord(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxWord && !strings.Contains(s, "--") // which ends some readers' comments
}

// word makes a label of any text.
func word(s string) string {
	b := []byte(s[:min(len(s), maxWord)])
	for i, c := range b {
		if !wordByte(c) || c == '-' && i > 0 && b[i-1] == '-' {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "unknown"
	}
	return string(b)
}
