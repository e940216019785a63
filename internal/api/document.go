package api

import (
	"encoding"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/oneslot/oneslot/internal/wire"
)

// document answers the OpenAPI document of what is served.
func (c *call) document() error {
	answer(c.w, http.StatusOK, "application/json", describe(c.server.routes(), c.Version))
	return nil
}

type object = map[string]any

// describe makes the OpenAPI document of a table of routes.
func describe(routes []route, version string) object {
	s := schemas{}
	paths := object{}
	for _, r := range routes {
		item, _ := paths[r.path].(object)
		if item == nil {
			item = object{}
			paths[r.path] = item
		}
		item[strings.ToLower(r.method)] = s.operation(r)
	}
	if version == "" {
		version = "0"
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "oneslot", "version": version,
			"description": "Exactly one worker per issue or pull request. Errors are RFC 9457 problems; their type tells them apart.",
		},
		"paths": paths,
		"components": object{
			"schemas":         s,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
	}
}

func (s schemas) operation(r route) object {
	params := []object{}
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	if r.query != nil {
		for i := range r.query.NumField() {
			f := r.query.Field(i)
			params = append(params, object{"name": jsonName(f), "in": "query", "schema": s.of(f.Type)})
		}
	}
	ok := object{"description": "done"}
	switch {
	case r.out != nil:
		ok["content"] = object{"application/json": object{"schema": s.of(r.out)}}
	case r.media != "":
		ok["content"] = object{r.media: object{"schema": object{"type": "string"}}}
	}
	problem := object{"description": "not done; the type says why",
		"content": object{wire.ProblemType: object{"schema": s.of(reflect.TypeFor[wire.Problem]())}}}
	op := object{
		"summary": r.summary, "operationId": operationID(r), "parameters": params,
		"responses": object{"200": ok, "default": problem}, "x-role": r.need.String(),
	}
	if one := regexp.MustCompile(`/(run|deliver)[a-z]*/\{`); one.MatchString(r.path) { // claims that are not there are lost
		op["responses"].(object)["404"] = object{"description": "it is not on record", "content": problem["content"]}
	}
	if r.need > None {
		op["security"] = []object{{"token": []string{}}, {}}
	}
	if r.in != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(r.in)}}}
	}
	return op
}

func operationID(r route) string {
	path := strings.NewReplacer("/api/v1/", "", "{", "", "}", "", "/", "-", ".json", "").Replace(r.path)
	return strings.ToLower(r.method) + "-" + strings.Trim(path, "-")
}

// jsonName is what a field is called in JSON; "" if it is not there.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// schemas are the schemas of named shapes, by name.
type schemas object

var (
	textual = reflect.TypeFor[encoding.TextMarshaler]()
	anyJSON = "RawMessage"
)

// of is the schema of a type: of a named shape, a reference to it.
func (s schemas) of(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return object{"anyOf": []object{s.of(t.Elem()), {"type": "null"}}}
	case t.Name() == anyJSON:
		return object{}
	case t.Name() == "Time":
		return object{"type": "string", "format": "date-time"}
	case t.Name() == "Span":
		return object{"type": "string", "examples": []string{"1m30s"}}
	case t.Implements(textual):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Struct:
		if s[t.Name()] == nil {
			s[t.Name()] = object{} // so that one which has itself ends
			s[t.Name()] = s.shape(t)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	return object{"type": "integer"}
}

// shape is the schema of a struct's fields, with those of the structs in it.
func (s schemas) shape(t reflect.Type) object {
	props, required := object{}, []string{}
	s.fields(t, props, &required)
	return object{"type": "object", "properties": props, "required": required}
}

func (s schemas) fields(t reflect.Type, props object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.fields(f.Type, props, required)
			continue
		}
		name := jsonName(f)
		props[name] = s.of(f.Type)
		if !strings.Contains(f.Tag.Get("json"), ",omit") {
			*required = append(*required, name)
		}
	}
}
