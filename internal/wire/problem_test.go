package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func someClaim(t *testing.T) slot.Claim {
	t.Helper()
	ref, err := slot.ParseCanonical("github.com/octo-org/octo-repo#12")
	if err != nil {
		t.Fatal(err)
	}
	c := slot.Claim{Ref: ref}
	fill(t, reflect.ValueOf(&c).Elem())
	return c
}

// fill sets each field to a value of its own that is not zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case slot.Ref:
		if v.Interface() == (slot.Ref{}) {
			ref, _ := slot.ParseCanonical("key:filled")
			v.Set(reflect.ValueOf(ref))
		}
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(90*time.Second + 7))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.String:
		v.SetString("a\n\"text\" <é>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<53 - 1)
	case reflect.Uint64:
		v.SetUint(4026531836)
	case reflect.Float64:
		v.SetFloat(1.25)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	default:
		t.Fatalf("nothing fills a %s", v.Type())
	}
}

// over sends a value through JSON.
func over[T any](t *testing.T, v T) T {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return back
}

// Nothing of slot's words is lost on the wire, field for field: one that is added
// there and forgotten here is seen.
func TestWordsComeBackWhole(t *testing.T) {
	c := someClaim(t)
	if got := over(t, FromClaim(c)).Slot(); !reflect.DeepEqual(got, c) {
		t.Errorf("claim\n %+v\ncame back as\n %+v", c, got)
	}
	var r slot.Run
	fill(t, reflect.ValueOf(&r).Elem())
	if got := over(t, FromRun(r)).Slot(); !reflect.DeepEqual(got, r) {
		t.Errorf("run\n %+v\ncame back as\n %+v", r, got)
	}
	var d slot.Decision
	fill(t, reflect.ValueOf(&d).Elem())
	if got := over(t, FromDecision(d)).Slot(); !reflect.DeepEqual(got, d) {
		t.Errorf("decision\n %+v\ncame back as\n %+v", d, got)
	}
	var req claim.Request
	fill(t, reflect.ValueOf(&req).Elem())
	req.Queued = false // the queue is the server's own: it asks itself
	if got := over(t, FromRequest(req)).Request(req.Ref, req.Also); !reflect.DeepEqual(got, req) {
		t.Errorf("request\n %+v\ncame back as\n %+v", req, got)
	}
	var look claim.Slot
	fill(t, reflect.ValueOf(&look).Elem())
	if got := over(t, FromLook(look)).Slot(); !reflect.DeepEqual(got, look) {
		t.Errorf("look\n %+v\ncame back as\n %+v", look, got)
	}
	var lease claim.Lease
	fill(t, reflect.ValueOf(&lease).Elem())
	if got := over(t, FromLease(lease)).Lease(); got != lease {
		t.Errorf("lease\n %+v\ncame back as\n %+v", lease, got)
	}
	for _, zero := range []bool{true, false} {
		var c slot.Claim
		if !zero {
			c.Ref = r.Ref
		}
		if got := over(t, FromClaim(c)).Slot(); !reflect.DeepEqual(got, c) {
			t.Errorf("an empty claim came back as %+v", got)
		}
	}
}

// Each error comes back as it was, with each field, and as no other kind.
func TestErrorsComeBackWhole(t *testing.T) {
	c := someClaim(t)
	busy := &slot.BusyError{Ref: c.Ref, Reason: slot.ReasonHeld, Claim: c, Store: "S", Detail: "d",
		Place: &slot.Place{Ahead: 2, Before: c.Holder.Process, BeforeTicket: "t"}}
	line := &slot.BusyError{Ref: c.Ref, Reason: slot.ReasonLine, Store: "S"}
	deferred := &slot.DeferError{Ref: c.Ref, Reason: slot.ReasonHold, Detail: "d", Hold: &slot.Hold{Scope: "s", Reason: "r", By: "b", At: c.Since},
		Place: busy.Place, Until: c.Since}
	lost := &slot.LostError{Claim: "c", Reason: "r", Newest: &c}
	for _, err := range []error{busy, line, deferred, lost} {
		for _, wrapped := range []error{err, fmt.Errorf("while testing: %w", err)} {
			got := over(t, FromError(wrapped)).Err("op", "S")
			if !reflect.DeepEqual(got, err) {
				t.Errorf("%#v\ncame back as\n%#v", err, got)
			}
		}
	}
	kinds := []error{slot.ErrUnknown, slot.ErrLost, slot.ErrNotAllowed, slot.ErrUsage, slot.ErrConfig, queue.ErrStale}
	for _, kind := range kinds {
		sent := fmt.Errorf("%w: since it is so", kind)
		got := over(t, FromError(sent)).Err("op", "S")
		for _, other := range kinds {
			if errors.Is(got, other) != (other == kind) {
				t.Errorf("%v came back as %v", sent, got)
			}
		}
	}
	none := FromError(fmt.Errorf("%w: no run", slot.ErrNoRecord))
	if got := over(t, none).Err("op", "S"); none.Status != 404 || !errors.Is(got, slot.ErrNoRecord) || !errors.Is(got, slot.ErrUsage) || got.Error() != "usage: no run" {
		t.Errorf("%+v came back as %v", none, got)
	}
	if got := FromError(errors.New("canary")).Err("op", "S"); !errors.Is(got, slot.ErrUnknown) || got.Error() == "canary" {
		t.Errorf("a fault came back as %v", got)
	}
	moved := FromError(&slot.UnknownError{Op: "read", Store: "x", Err: slot.ErrMoved}).Err("op", "S")
	if !errors.Is(moved, slot.ErrMoved) || !errors.Is(moved, slot.ErrUnknown) {
		t.Errorf("moved came back as %v", moved)
	}
}
