package reserve

import (
	"slices"
	"testing"
	"time"
)

// times gives rules of whole ticks.
func times(settle, margin, cutoff int) rules {
	r := rules{
		low: time.Duration(settle) * time.Second, high: time.Duration(settle) * time.Second, ttl: time.Hour,
		margin: time.Duration(margin) * time.Second, cutoff: time.Duration(cutoff) * time.Second, again: time.Second,
	}
	r.posting = r.cutoff + r.high + r.margin // as newRules counts
	return r
}

// Never two winners while the lag stays below the lower end of the wait, and one
// winner when all are prompt. (P1 as far as comments can promise it; C15, C16, C17.)
func TestModelHolds(t *testing.T) {
	for name, m := range map[string]model{
		"two":                        {rules: times(2, 0, 6), lag: 1, n: 2},
		"two, more lag":              {rules: times(3, 1, 7), lag: 2, n: 2},
		"two, a forge without lag":   {rules: times(0, 0, 3), lag: 0, n: 2},
		"three":                      {rules: times(2, 0, 5), lag: 1, n: 3},
		"three, a forge without lag": {rules: times(0, 1, 3), lag: 0, n: 3},
		"two prompt":                 {rules: times(6, 1, 16), lag: 1, n: 2, live: true},
		"three prompt":               {rules: times(6, 1, 16), lag: 1, n: 3, live: true},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && m.n == 3 && m.lag > 0 && !m.live {
				t.Skip("takes half a minute")
			}
			n, way := m.search()
			for _, s := range way {
				t.Errorf("%+v", s[:m.n])
			}
			if t.Logf("%d worlds", n); n < 1000 {
				t.Errorf("only %d worlds: is this the protocol?", n)
			}
		})
	}
}

// The model finds what each rule is there for.
func TestModelFinds(t *testing.T) {
	late := times(2, 0, 5)
	late.cutoff = time.Hour
	for name, m := range map[string]model{
		"a wait shorter than the lag":             {rules: times(1, 0, 5), lag: 2, n: 2},
		"no wait where lists lag":                 {rules: times(0, 0, 5), lag: 1, n: 2},
		"an edit without a cut-off":               {rules: late, lag: 1, n: 2},
		"higher posted markers not waited for":    {rules: times(2, 0, 5), lag: 1, n: 2, rush: true},
		"nor at a forge without lag":              {rules: times(0, 0, 5), lag: 0, n: 2, rush: true},
		"two winners, also with three contenders": {rules: times(0, 0, 5), lag: 0, n: 3, rush: true},
		"all higher ones waited for: nobody wins": {rules: times(6, 1, 16), lag: 1, n: 2, live: true, patient: true},
	} {
		t.Run(name, func(t *testing.T) {
			if n, way := m.search(); way == nil {
				t.Errorf("%d worlds, and nothing is found", n)
			} else {
				t.Logf("found after %d worlds: %+v", n, way[len(way)-1][:m.n])
			}
		})
	}
}

// world is a state, packed. The zero one is no world: a world has an initial bit.
type world [3]uint32

func pack(s state) world { return world{s[0].key() | 1<<31, s[1].key(), s[2].key()} }

func (w world) unpack() (s state) {
	for i, k := range w {
		take := func(bits int) uint8 {
			v := uint8(k & (1<<bits - 1))
			k >>= bits
			return v
		}
		p := &s[i]
		p.editFlies, p.running, p.waited = take(1) == 1, take(1) == 1, take(1)
		p.goneAge, p.editAge, p.shownAge, p.madeAge = take(2), take(2), take(2), take(5)
		p.settle, p.sent, p.body, p.phase = take(5), take(5), take(3), take(3)
	}
	return s
}

// worlds is a set of them: a map of Go takes thrice the room.
type worlds struct {
	slots []world
	n     int
}

// add reports whether w is new.
func (s *worlds) add(w world) bool {
	if s.n*3 >= len(s.slots)*2 {
		old := s.slots
		s.slots, s.n = make([]world, max(1<<12, 2*len(old))), 0
		for _, o := range old {
			if o != (world{}) {
				s.add(o)
			}
		}
	}
	h := (uint64(w[0])*0x9E3779B97F4A7C15 ^ uint64(w[1])) * 0xC2B2AE3D27D4EB4F
	h = (h ^ h>>29 ^ uint64(w[2])) * 0x165667B19E3779F9
	for i := (h ^ h>>32) & uint64(len(s.slots)-1); ; i = (i + 1) & uint64(len(s.slots)-1) {
		switch s.slots[i] {
		case w:
			return false
		case world{}:
			s.slots[i] = w
			s.n++
			return true
		}
	}
}

// search visits every world. It gives how many there are, and the way to one that is
// bad (of three contenders, the bad one alone).
func (m *model) search() (n int, way []state) {
	var seen worlds
	first := pack(state{})
	seen.add(first)
	stack := []world{first}
	from := map[world]world{}
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s := w.unpack()
		if m.bad(s) {
			for way = []state{s}; w != first && m.n < 3; way = append(way, w.unpack()) {
				w = from[w]
			}
			slices.Reverse(way)
			return seen.n, way
		}
		for _, t := range m.steps(s) {
			next := pack(m.normal(t))
			if !seen.add(next) {
				continue
			}
			stack = append(stack, next)
			if m.n < 3 {
				from[next] = w
			}
		}
	}
	return seen.n, nil
}
