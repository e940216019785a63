package hook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// What is read of a payload is what encoding/json reads of it.
func TestSkim(t *testing.T) {
	for _, r := range rows(t) {
		body := read(t, r.file)
		got, want := any(&message{}), any(&message{})
		if r.forge == GitLab {
			got, want = &gitlabMessage{}, &gitlabMessage{}
		}
		if !skim(body, got) {
			t.Fatalf("%s is not valid", r.file)
		}
		_ = json.Unmarshal(body, want)
		if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s: %s", r.file, diff)
		}
	}
}

// sample has what the types of messages are made of.
type sample struct {
	A string   `json:"a"`
	B *int64   `json:"b"`
	C []sample `json:"c"`
	D *sample  `json:"d"`
	E bool     `json:"e"`
}

// A value of another type is left out, and what surrounds it is read.
func TestSkim_OfAnotherType(t *testing.T) {
	const body = `{"a":1,"b":"x","c":{"a":"y"},"d":{"a":["z"],"b":2.5,"c":[1,{"a":"\u0041\ud800"},null],"d":true,"\u0065":true},"e":null,"f":[{}]}`
	var got sample
	if !skim([]byte(body), &got) {
		t.Fatal("it is not valid")
	}
	want := sample{D: &sample{B: new(int64), C: []sample{{}, {A: "A\ufffd"}, {}}, E: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// It finds valid what encoding/json finds valid, and reads the same.
func FuzzSkim(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":[{"a":2,"c":3}],"c":{"a":4}}`, `[]`, `{}`, `{"a":[1,{"c":2},3]}`, `{"\u0061":1}`, `-0.5e+7`, `01`, `-`, `1.`, `.5`,
		`1e`, `"\ud800"`, `"\x"`, "\"\n\"", `tru`, `nul`, `{"a"}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, "\xef\xbb\xbf{}", `{} x`, ``, ` `, "\"\xff\"",
		`{"a":1 "b":2}`, `{"a":[1 2]}`, `[}`, `{]`, `"`, `"\`, `"\u00`, `{"a":"x","a":"y"}`, "[\x00]",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want sample
		if ok := skim(body, &got); ok != json.Valid(body) {
			t.Fatalf("%q: %v", body, ok)
		}
		// encoding/json finds names in any case, and keeps old elements of a list that
		// comes twice.
		if bytes.ContainsFunc(body, func(r rune) bool { return unicode.IsUpper(r) || r >= utf8.RuneSelf || r == '\\' }) || bytes.Count(body, []byte("[")) > 1 {
			return
		}
		if err := json.Unmarshal(body, &want); err != nil {
			return
		}
		if !reflect.DeepEqual(want, got) { // not cmp: it takes seconds for what is nested deeply
			t.Fatalf("%q: %+v, want %+v", body, got, want)
		}
	})
}
