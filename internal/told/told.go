package told

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// A payload up to inlineMax bytes stands in the file itself, all of them together up
// to togetherMax; the newest stands there whole, whatever its size. The others are
// named by their files.
const (
	inlineMax   = 64 << 10
	togetherMax = 8 << 20
)

// entry is an event as the worker reads it. Absent values are null.
type entry struct {
	ID      string         `json:"id"`
	At      time.Time      `json:"at"`
	Path    string         `json:"path"`
	Kind    slot.EventKind `json:"kind"`
	Ref     slot.Ref       `json:"ref"`
	Sha     *string        `json:"sha"`
	Facts   slot.Facts     `json:"facts"`
	File    *string        `json:"payload_file"`
	Payload *string        `json:"payload"` // replaced by the raw bytes
}

// Reader reads deliveries.
type Reader interface {
	Delivery(ctx context.Context, id string) (slot.Delivery, error)
}

// Keep puts a payload into a file beside the others and returns its absolute name.
type Keep func(name string, data []byte) (string, error)

// Write returns the content of the file for the events, oldest first. A payload
// that is not kept any more is null; any other failure is an error, since a worker
// must not be told less than there is.
func Write(ctx context.Context, events []queue.Record, from Reader, keep Keep) ([]byte, error) {
	// From the newest on, since what fits goes by age.
	texts := make([][]byte, len(events))
	left := togetherMax
	for i := len(events) - 1; i >= 0; i-- {
		newest := i == len(events)-1
		text, used, err := one(ctx, events[i], from, keep, newest, left)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", events[i].ID, err)
		}
		texts[i] = text
		left -= used
	}
	return append(append([]byte("["), bytes.Join(texts, []byte(",\n"))...), ']', '\n'), nil
}

func one(ctx context.Context, e queue.Record, from Reader, keep Keep, newest bool, left int) (text []byte, used int, err error) {
	row := entry{ID: e.ID, At: e.At.UTC(), Path: e.Path, Kind: e.Kind, Ref: e.Ref, Facts: e.Facts}
	if e.Sha != "" {
		row.Sha = &e.Sha
	}
	var payload []byte
	if e.Delivery != "" {
		d, err := from.Delivery(ctx, e.Delivery)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case d.Body == nil && d.File == "": // too old to be kept
		case d.File != "" && !newest:
			row.File = &d.File
		case d.File != "":
			if payload, err = os.ReadFile(d.File); err != nil {
				return nil, 0, err
			}
		case !newest && (len(d.Body) > inlineMax || len(d.Body) > left):
			name, err := keep("payload-"+e.ID+".json", d.Body)
			if err != nil {
				return nil, 0, err
			}
			row.File = &name
		default:
			payload = d.Body
		}
	}
	text, err = json.Marshal(row)
	if err != nil || payload == nil {
		return text, 0, err
	}
	if !json.Valid(payload) {
		return text, 0, nil
	}
	// The forge's own bytes, not a reading of them: what it signed is what is told.
	text = bytes.TrimSuffix(text, []byte(`null}`))
	return append(append(text, payload...), '}'), len(payload), nil
}
