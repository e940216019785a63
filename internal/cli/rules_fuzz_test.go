package cli

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzDelivery: a file is a payload as it is, a request with some headers, or none
// of both; the body is never changed.
func FuzzDelivery(f *testing.F) {
	for _, s := range []string{"", "{}", " \n{\"a\":1}", "POST /hooks/a HTTP/1.1\r\nX-A: b\r\n\r\n{}", "X-A: b\n\n{}\n", "POST /hook\nA: b\n\n", "POST \n\n", "[]", "a", ": \n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseDelivery(data)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(data, d.body) || strings.HasPrefix(d.hook, "/") || d.header == nil {
			t.Errorf("%+v", d)
		}
	})
}
