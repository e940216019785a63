package told

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

type deliveries map[string]slot.Delivery

func (d deliveries) Delivery(_ context.Context, id string) (slot.Delivery, error) { return d[id], nil }

// told reads the file as a worker would.
func told(t *testing.T, dir string, from deliveries, events ...queue.Record) []map[string]any {
	t.Helper()
	text, err := Write(t.Context(), events, from, func(name string, data []byte) (string, error) {
		path := filepath.Join(dir, name)
		return path, os.WriteFile(path, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	if len(list) != len(events) {
		t.Fatalf("%d entries for %d events", len(list), len(events))
	}
	return list
}

func event(id, delivery string) queue.Record {
	return queue.Record{Event: slot.Event{ID: id, At: time.Unix(1, 0), Path: slot.PathWebhook, Kind: slot.CIFailed, Delivery: delivery}}
}

func body(size int) []byte { return []byte(`{"pad":"` + strings.Repeat("x", size-10) + `"}`) }

// The newest payload is whole, whatever its size; the others up to their bounds.
func TestWrite_PayloadsBySize(t *testing.T) {
	dir := t.TempDir()
	spooled := filepath.Join(dir, "spooled.json")
	if err := os.WriteFile(spooled, body(2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	list := told(t, dir, deliveries{
		"small": {Body: body(inlineMax)}, "big": {Body: body(inlineMax + 1)}, "file": {File: spooled}, "old": {},
	}, event("e1", "small"), event("e2", "big"), event("e3", "file"), event("e4", "old"), event("e5", ""), event("e6", "big"))
	for i, want := range []string{"inline", "file", "file", "none", "none", "inline"} {
		got := "none"
		if list[i]["payload"] != nil {
			got = "inline"
		}
		if name, ok := list[i]["payload_file"].(string); ok {
			got = "file"
			if text, err := os.ReadFile(name); err != nil || !json.Valid(text) {
				t.Errorf("%s names %s: %v", list[i]["id"], name, err)
			}
		}
		if got != want {
			t.Errorf("%s: payload %s, want %s", list[i]["id"], got, want)
		}
	}
	if list[len(list)-1]["id"] != "e6" {
		t.Error("the newest is not last")
	}
	if whole := told(t, dir, deliveries{"file": {File: spooled}}, event("e7", "file")); whole[0]["payload"] == nil {
		t.Error("the newest payload is not whole because it lies in a file")
	}
}

// All payloads together have a bound; the newest come first.
func TestWrite_PayloadsTogether(t *testing.T) {
	n := togetherMax/inlineMax + 8
	from := deliveries{"d": {Body: body(inlineMax)}}
	var events []queue.Record
	for i := range n {
		events = append(events, event("e"+string(rune('A'+i%26))+strings.Repeat("z", i/26), "d"))
	}
	list := told(t, t.TempDir(), from, events...)
	inline := 0
	for i, e := range list {
		if e["payload"] != nil {
			inline++
			if i < n-togetherMax/inlineMax {
				t.Errorf("entry %d of %d is inline", i, n)
			}
		}
	}
	if inline != togetherMax/inlineMax {
		t.Errorf("%d payloads inline, want %d", inline, togetherMax/inlineMax)
	}
}

// C39: what the forge sent is told as it is; what is no JSON does not break the rest.
func TestC39_OddPayloads(t *testing.T) {
	odd := `{"title":"a\u0000b \ud800 <&>` + "\xff" + `"}`
	from := deliveries{"odd": {Body: []byte(odd)}, "broken": {Body: []byte(`{"a":`)}}
	text, err := Write(t.Context(), []queue.Record{event("e1", "odd"), event("e2", "broken")}, from, nil)
	if err != nil || !strings.Contains(string(text), odd) {
		t.Errorf("%v: the bytes are not the forge's: %s", err, text)
	}
	list := told(t, t.TempDir(), from, event("e2", "broken"))
	if list[0]["payload"] != nil {
		t.Errorf("%v", list)
	}
}
