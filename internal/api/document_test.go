package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
	"github.com/oneslot/oneslot/internal/wire"
)

// doc is the document as a client reads it.
type doc struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Role        string `json:"x-role"`
		Parameters  []struct{ Name, In string }
		RequestBody struct {
			Content map[string]struct{ Schema schemaDoc }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema schemaDoc }
		}
	}
	Components struct{ Schemas map[string]schemaDoc }
}

type schemaDoc struct {
	Ref        string `json:"$ref"`
	Type       string
	Properties map[string]schemaDoc
	Required   []string
	Items      *schemaDoc
	AnyOf      []schemaDoc
}

func readDoc(t *testing.T, s *testServer) doc {
	t.Helper()
	var d doc
	if err := json.Unmarshal([]byte(s.want(200, "GET", "/api/v1/openapi.json", "").body), &d); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1") || len(d.Paths) < 20 {
		t.Fatalf("openapi %q with %d paths", d.OpenAPI, len(d.Paths))
	}
	return d
}

// Each operation of the document is served, asks for the role that it names, and
// refuses as it says; each id is one operation's.
func TestDocument_IsServed(t *testing.T) {
	s := startServer(t, func(o *Options) {
		o.Open, o.Broker = false, &broker{}
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("m 1\n")) }) //nolint:errcheck // the client tells
	})
	d := readDoc(t, s)
	ids := map[string]string{}
	for path, item := range d.Paths {
		for method, op := range item {
			name := method + " " + path
			if other := ids[op.OperationID]; other != "" {
				t.Errorf("%s and %s are both %s", name, other, op.OperationID)
			}
			ids[op.OperationID] = name
			real := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")
			want := http.StatusUnauthorized
			if op.Role == "none" {
				want = http.StatusOK
			}
			s.want(want, strings.ToUpper(method), real, "{}")
			for _, p := range op.Parameters {
				if p.In == "path" && !strings.Contains(path, "{"+p.Name+"}") {
					t.Errorf("%s has no %s", name, p.Name)
				}
			}
			if schema := op.Responses["default"].Content[wire.ProblemType].Schema; schema.Ref == "" {
				t.Errorf("%s does not say how it fails", name)
			}
		}
	}
}

// What is answered has the fields of the document, all that are required and no
// others; and what it has as objects and lists is so.
func TestDocument_IsTrue(t *testing.T) {
	b := &broker{}
	s := startServer(t, func(o *Options) { o.Broker = b })
	d := readDoc(t, s)
	ref := "?ref=octo-org/octo-repo%2312"
	s.want(200, "POST", "unix:/api/v1/holds", `{"scope":"key:held","reason":"r"}`)
	token := `{"token":"canary-canary-canary"}`
	claimed := s.want(200, "POST", "/api/v1/claims", `{"ref":"octo-org/octo-repo#12","kind":"supervised","run":"r1","token":"canary-canary-canary"}`)
	var grant wire.Grant
	if err := json.Unmarshal([]byte(claimed.body), &grant); err != nil {
		t.Fatal(err)
	}
	d.check(t, "post", "/api/v1/claims", claimed)
	one := strings.NewReplacer("{claim}", grant.Claim.Claim, "{run}", "r1")
	for _, c := range []struct{ method, path, query, body string }{
		{"post", "/api/v1/claims/renew", "", `{"claims":[{"claim":"` + grant.Claim.Claim + `","token":"canary-canary-canary"},{"claim":"x.y","token":"z"}]}`},
		{"post", "/api/v1/claims/{claim}/renew", "", token},
		{"post", "/api/v1/claims/{claim}/start", "", token},
		{"post", "/api/v1/claims/{claim}/check", "", token},
		{"get", "/api/v1/claims", "", ""},
		{"get", "/api/v1/slot", ref, ""},
		{"get", "/api/v1/repo", "?repo=octo-org/octo-repo", ""},
		{"post", "/api/v1/line/leave", "", `{"ref":"key:a","ticket":{"id":"t","process":{}}}`},
		{"get", "/api/v1/runs", ref, ""},
		{"get", "/api/v1/runs/open", ref + "&boot=b", ""},
		{"get", "/api/v1/runs/{run}", "", ""},
		{"get", "/api/v1/decisions", ref, ""},
		{"post", "/api/v1/decisions", "", `{"ref":"key:a","verdict":"skip","reason":"r"}`},
		{"get", "/api/v1/holds", "", ""},
		{"post", "/api/v1/events", "", `{"ref":"octo-org/octo-repo#12"}`},
		{"get", "/api/v1/why", ref, ""},
		{"get", "/api/v1/server", "", ""},
		{"post", "/api/v1/holds/end", "", `{"scope":"key:held"}`},
		{"post", "/api/v1/claims/{claim}/stop", "", `{"reason":"r"}`},
		{"post", "/api/v1/claims/{claim}/release", "", token},
		{"post", "/api/v1/runs/{run}/gone", "", `{"result":"done","exit":0}`},
		{"post", "/api/v1/stop", "", aStop},
		{"post", "/api/v1/takeover", "", aStop},
	} {
		d.check(t, c.method, c.path, s.want(200, strings.ToUpper(c.method), "unix:"+one.Replace(c.path)+c.query, c.body))
	}
}

func (d doc) check(t *testing.T, method, path string, a answered) {
	t.Helper()
	schema, ok := d.Paths[path][method].Responses["200"].Content["application/json"]
	if !ok {
		t.Errorf("%s %s is not in the document", method, path)
		return
	}
	var v any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	d.match(t, method+" "+path, schema.Schema, v)
}

// match holds a value against a schema.
func (d doc) match(t *testing.T, at string, s schemaDoc, v any) {
	t.Helper()
	if s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	if len(s.AnyOf) > 0 {
		if v != nil {
			d.match(t, at, s.AnyOf[0], v)
		}
		return
	}
	is := map[reflect.Kind]string{reflect.Map: "object", reflect.Slice: "array", reflect.String: "string", reflect.Bool: "boolean"}[reflect.ValueOf(v).Kind()]
	if is == "" && v != nil && s.Type != "array" {
		is = s.Type // a number
	}
	if s.Type != is && s.Type != "" {
		t.Errorf("%s is %v; the document says %s", at, v, s.Type)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			p, ok := s.Properties[name]
			if !ok {
				t.Errorf("%s has %s, which is not in the document", at, name)
				continue
			}
			d.match(t, at+"."+name, p, value)
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				t.Errorf("%s lacks %s", at, name)
			}
		}
	case []any:
		for _, e := range v {
			d.match(t, at+"[]", *s.Items, e)
		}
	}
}

// A problem has what RFC 9457 asks for.
func TestProblems_AreInTheDocument(t *testing.T) {
	d := readDoc(t, startServer(t, nil))
	fields := d.Components.Schemas["Problem"]
	for _, name := range []string{"type", "title", "status", "detail"} {
		if !slices.Contains(fields.Required, name) {
			t.Errorf("a problem need not have a %s", name)
		}
	}
}

// What is asked for by its id and is not on record is 404, and the document says so.
func TestDocument_NotOnRecord(t *testing.T) {
	s := startServer(t, func(o *Options) { o.Broker, o.Queue = &broker{}, queuetest.NewMemory(clock.NewManual(time.Now())) })
	d := readDoc(t, s)
	for path, body := range map[string]string{
		"/api/v1/deliveries/{delivery}": "", "/api/v1/runs/{run}": "", "/api/v1/runs/{run}/log": "",
		"/api/v1/runs/{run}/gone": `{"result":"done","exit":0}`,
	} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		real := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "NO-SUCH-ID")
		p := s.want(http.StatusNotFound, method, "unix:"+real, body).problem(t)
		if p.Type != wire.TypeUsage || !strings.Contains(p.Detail, "NO-SUCH-ID") {
			t.Errorf("%s: %+v", path, p)
		}
		if _, ok := d.Paths[path][strings.ToLower(method)].Responses["404"]; !ok {
			t.Errorf("%s: the document has no 404", path)
		}
	}
}
