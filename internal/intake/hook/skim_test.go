package hook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The keys that are kept are those of the types.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		of   any
		keep keeper
	}{{message{}, messageKey}, {gitlabMessage{}, gitlabKey}} {
		var names [][2]string
		tags(reflect.TypeOf(c.of), "", &names)
		for _, name := range names {
			if !c.keep([]byte(name[0]), []byte(name[1])) {
				t.Errorf("%T has %q in %q, and it is not kept", c.of, name[1], name[0])
			}
		}
		if c.keep(nil, []byte("html_url_of_nothing")) || len(names) < 50 {
			t.Errorf("%T: %d keys", c.of, len(names))
		}
	}
}

// tags lists the keys of a type, each with what it is in.
func tags(of reflect.Type, in string, names *[][2]string) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		tags(of.Elem(), in, names)
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			name := f.Tag.Get("json")
			if pair := [2]string{in, name}; !slices.Contains(*names, pair) {
				*names = append(*names, pair)
				tags(f.Type, name, names)
			}
		}
	}
}

// What is read of a skimmed payload is what is read of the whole.
func TestSkim(t *testing.T) {
	for _, r := range rows(t) {
		body := read(t, r.file)
		keep, whole, part := keeper(messageKey), any(&message{}), any(&message{})
		if r.forge == GitLab {
			keep, whole, part = gitlabKey, &gitlabMessage{}, &gitlabMessage{}
		}
		text, ok := skim(body, keep)
		if !ok || !json.Valid(text) || len(text) > len(body) {
			t.Fatalf("%s: %v %s", r.file, ok, text)
		}
		_ = json.Unmarshal(body, whole)
		_ = json.Unmarshal(text, part)
		if diff := cmp.Diff(whole, part, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s: %s", r.file, diff)
		}
	}
}

// It finds valid what encoding/json finds valid, and keeps just what it is told.
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
		all, ok := skim(body, func(_, _ []byte) bool { return true })
		if ok != json.Valid(body) {
			t.Fatalf("%q: %v", body, ok)
		}
		if !ok {
			return
		}
		var plain bytes.Buffer
		if err := json.Compact(&plain, body); err != nil || !bytes.Equal(plain.Bytes(), all) {
			t.Fatalf("%q became %q, %v", body, all, err)
		}
		some, ok := skim(body, func(_, key []byte) bool { return string(key) == "a" })
		if !ok || !json.Valid(some) {
			t.Fatalf("%q became %q", body, some)
		}
	})
}
