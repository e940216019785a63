package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oneslot/oneslot/internal/slot"
)

// Bounds of what a worker may say about itself.
const (
	ResultMax     = 1 << 20 // bytes of the file
	summaryMax    = 64 << 10
	prMax         = 2 << 10
	retryAfterMax = 30 * 24 * time.Hour
)

// Result is what the worker says about itself. Zero fields were not said.
type Result struct {
	Summary    string
	PR         string
	CostUSD    float64
	Tokens     int64
	RetryAfter time.Duration
	Outcome    slot.Result // Done, Failed, Later, Waits, or empty
}

// Result reads what the worker wrote, if anything. Whatever is wrong with it is
// told in complaint, in one line for people; the rest of it still counts.
func (d Dir) Result() (r Result, complaint string) {
	data, err := d.read("result.json", ResultMax)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, ""
	}
	if err != nil {
		return Result{}, fmt.Sprintf("the result file cannot be read: %v", err)
	}
	return parseResult(data)
}

func parseResult(data []byte) (r Result, complaint string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return Result{}, "the result file is not a JSON object"
	}
	var wrong []string
	field := func(name string, set func(json.RawMessage) bool) {
		if raw, ok := fields[name]; ok && string(raw) != "null" && !set(raw) {
			wrong = append(wrong, name)
		}
	}
	field("summary", func(raw json.RawMessage) bool { return text(raw, summaryMax, &r.Summary) })
	field("pr", func(raw json.RawMessage) bool { return text(raw, prMax, &r.PR) })
	field("cost_usd", func(raw json.RawMessage) bool {
		var v float64
		ok := json.Unmarshal(raw, &v) == nil && v >= 0 && !math.IsInf(v, 0)
		if ok {
			r.CostUSD = v
		}
		return ok
	})
	field("tokens", func(raw json.RawMessage) bool {
		var v int64
		ok := json.Unmarshal(raw, &v) == nil && v >= 0
		if ok {
			r.Tokens = v
		}
		return ok
	})
	field("retry_after", func(raw json.RawMessage) bool { return span(raw, &r.RetryAfter) })
	field("outcome", func(raw json.RawMessage) bool {
		var v slot.Result
		if json.Unmarshal(raw, &v) != nil {
			return false
		}
		switch v {
		case slot.Done, slot.Failed, slot.Later, slot.Waits:
			r.Outcome = v
			return true
		}
		return false
	})
	if len(wrong) > 0 {
		complaint = "the result file is wrong in: " + strings.Join(wrong, ", ")
	}
	return r, complaint
}

// text takes a string, cut to at most limit bytes at a character's edge.
func text(raw json.RawMessage, limit int, into *string) bool {
	var v string
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	if len(v) > limit {
		for limit > 0 && !utf8.RuneStart(v[limit]) {
			limit--
		}
		v = v[:limit]
	}
	*into = v
	return true
}

// span takes "90s" or a number of seconds.
func span(raw json.RawMessage, into *time.Duration) bool {
	var d time.Duration
	var words string
	var seconds float64
	switch {
	case json.Unmarshal(raw, &words) == nil:
		var err error
		if d, err = time.ParseDuration(words); err != nil {
			return false
		}
	case json.Unmarshal(raw, &seconds) == nil && math.Abs(seconds) <= retryAfterMax.Seconds():
		d = time.Duration(seconds * float64(time.Second))
	default:
		return false
	}
	if d < 0 || d > retryAfterMax {
		return false
	}
	*into = d
	return true
}
