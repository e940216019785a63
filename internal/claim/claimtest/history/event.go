package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
)

// Kind is what was called.
type Kind string

const (
	CallAcquire  Kind = "acquire"
	CallTakeover Kind = "takeover" // Acquire that names a claim to set aside
	CallRenew    Kind = "renew"    // Renew and Start: both move the deadline
	CallCheck    Kind = "check"
	CallRelease  Kind = "release"
	CallLook     Kind = "look" // sees the record, and whether it has expired
)

// Outcome is how a call ended.
type Outcome string

const (
	OK      Outcome = "ok"
	Busy    Outcome = "busy"
	Lost    Outcome = "lost"
	Refused Outcome = "refused" // by the line, a hold, or as senseless; without effect
	Unknown Outcome = "unknown" // it may have happened, then or at any time after
)

// Event is one line of a record: a call, or the return of one.
type Event struct {
	Op string        `json:"op"` // names the call on both of its lines
	At time.Duration `json:"ns"` // boot time

	// Of a call.
	Kind     Kind          `json:"kind,omitempty"`
	Ref      string        `json:"ref,omitempty"` // the slot's slug
	Claim    string        `json:"claim,omitempty"`
	Displace string        `json:"displace,omitempty"`
	Why      claim.Why     `json:"why,omitempty"`
	Ends     bool          `json:"ends,omitempty"` // once granted, expiry alone frees it
	TTL      time.Duration `json:"ttl,omitempty"`  // that is asked for, or of a return: granted

	// Of a return.
	Outcome Outcome `json:"outcome,omitempty"`
	Fence   int64   `json:"fence,omitempty"`
	Holder  string  `json:"holder,omitempty"` // the claim that is in the way, or was looked at
	Ended   bool    `json:"ended,omitempty"`
	Expired bool    `json:"expired,omitempty"`
}

// Recorder appends events to one writer. Several processes may share a file
// opened with O_APPEND: each line is one write. A line end comes first and last, so
// that what a process was killed in the middle of spoils no line of another.
type Recorder struct {
	w     io.Writer
	clock clock.Clock
	id    string
	n     atomic.Int64
}

// NewRecorder records into w, with the boot time of c.
func NewRecorder(w io.Writer, c clock.Clock) *Recorder {
	return &Recorder{w: w, clock: c, id: claim.NewID()}
}

// Call writes the line before a call and returns the function that writes the
// one after it. If a line cannot be written the call must not be made.
func (r *Recorder) Call(e Event) (done func(Event) error, err error) {
	e.Op = fmt.Sprintf("%s-%d", r.id, r.n.Add(1))
	e.At = r.clock.Boot()
	return func(ret Event) error {
		ret.Op, ret.At = e.Op, r.clock.Boot()
		return r.write(ret)
	}, r.write(e)
}

func (r *Recorder) write(e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = r.w.Write(slices.Concat([]byte{'\n'}, line, []byte{'\n'}))
	return err
}

// Read reads a whole record. A line that was cut off is dropped: its process was killed
// before the call, or without having told of its end.
func Read(r io.Reader) ([]Event, error) {
	var events []Event
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var e Event
		err := json.Unmarshal(lines.Bytes(), &e)
		if cut, ok := errors.AsType[*json.SyntaxError](err); ok && cut.Offset == int64(len(lines.Bytes())) && !bytes.HasSuffix(lines.Bytes(), []byte{'}'}) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		events = append(events, e)
	}
	return events, lines.Err()
}
