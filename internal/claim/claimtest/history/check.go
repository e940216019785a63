package history

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience bounds the search of Check.
const patience = time.Minute

// Check returns nil if the events can have happened to slots that keep P1 to P3,
// and else an error that says which slot cannot. tick is the step by which the
// store tells deadlines apart. A failure is drawn into the HTML file picture,
// unless that is empty. Many events in one history take long to search:
// some hundred calls per slot, and few unknown ones among them, are well enough.
func Check(events []Event, tick time.Duration, picture string) error {
	ops, err := pair(events, tick)
	if err != nil {
		return err
	}
	m := model()
	for ref, history := range ops {
		result, info := porcupine.CheckOperationsVerbose(m, history, patience)
		if result == porcupine.Ok {
			continue
		}
		err := fmt.Errorf("history of %s (%d calls): %s", ref, len(history), result)
		if picture == "" {
			return err
		}
		if draw := porcupine.VisualizePath(m, info, picture); draw != nil {
			return fmt.Errorf("%w; it could not be drawn: %w", err, draw)
		}
		return fmt.Errorf("%w; see %s", err, picture)
	}
	return nil
}

// pair joins calls and returns, by slot. A call without a return, or with an
// unknown end, may take effect as late as the end of the history.
func pair(events []Event, tick time.Duration) (map[string][]porcupine.Operation, error) {
	var end time.Duration
	returns := map[string]Event{}
	for _, e := range events {
		end = max(end, e.At)
		if e.Kind == "" {
			if _, twice := returns[e.Op]; twice {
				return nil, fmt.Errorf("call %s returned twice", e.Op)
			}
			returns[e.Op] = e
		}
	}
	ops := map[string][]porcupine.Operation{}
	for _, e := range events {
		if e.Kind == "" {
			continue
		}
		ret, ok := returns[e.Op]
		if !ok || ret.Outcome == Unknown {
			ret.Outcome, ret.At = Unknown, end+1
		}
		delete(returns, e.Op)
		o := op{Event: e, Ret: ret, from: e.At, to: ret.At, tick: tick}
		ops[e.Ref] = append(ops[e.Ref], porcupine.Operation{Input: o, Call: int64(o.from), Return: int64(o.to)})
	}
	for id := range returns {
		return nil, fmt.Errorf("a return without its call %s", id)
	}
	return ops, nil
}

func model() porcupine.Model {
	nm := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, in, _ any) []any {
			var out []any
			for _, n := range in.(op).next(s.(state)) {
				out = append(out, n)
			}
			return out
		},
		DescribeOperation: func(in, _ any) string {
			o := in.(op)
			text := fmt.Sprintf("%s %s: %s", o.Kind, tail(o.Claim), o.Ret.Outcome)
			if o.Displace != "" {
				text += fmt.Sprintf(" over %s (%s)", tail(o.Displace), o.Why)
			}
			if o.Ret.Holder != "" {
				text += " by " + tail(o.Ret.Holder)
			}
			if o.Ret.Fence != 0 {
				text += fmt.Sprintf(" fence %d", o.Ret.Fence)
			}
			return text
		},
		DescribeState: func(s any) string {
			st := s.(state)
			return fmt.Sprintf("{%s live %v fence %d until %v..%v}", tail(st.claim), st.live, st.fence, st.early, st.late)
		},
	}
	return nm.ToModel()
}

// tail is enough of a claim id to tell it from others in a picture.
func tail(id string) string { return id[max(0, len(id)-6):] }
