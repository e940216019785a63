package reserve

import (
	"slices"
	"time"
)

// The model of the protocol. It explores every schedule of up to three contenders:
// any step may take as long as it likes, or never happen, so that freezes and crashes
// are everywhere; an id may be given and become visible much later; a list may be
// behind by up to lag, for each comment on its own; answers to posts and edits may be
// lost, and their requests land late. Time goes in ticks of a second, and what lies
// further back than anything can tell is forgotten, so that the search ends without a
// bound on time. What a contender does is asked of rules.next, which is the
// program's.
//
// Left out, because it only takes behaviour away: the look before the post, and what
// a contender does when it is late (any of them may give up at any time).
type model struct {
	rules rules
	lag   int // ticks
	n     int // contenders

	rush    bool // the wait for higher posted markers is left out
	patient bool // those are waited for too that are sure to see us
	live    bool // everybody is prompt: each request takes a tick at most, and nothing is lost

	acts map[uint][]verb // what reads found before
	list []state         // what steps found
}

// Phases of a contender, as far as the model tells them apart.
const (
	idle uint8 = iota
	posting
	seeking  // the answer to its post was lost
	settling // its comment is known
	editing
	started
	out
)

// States of its comment.
const (
	none   uint8 = iota
	flying       // sent, and not at the forge yet
	made         // has its id, and nobody can see it
	shown
	gone // deleted
	over // and nobody sees it any more
)

// proc is one contender and its comment. Ages are ticks since something happened, no
// more than can be told apart.
type proc struct {
	phase, body uint8
	sent        uint8 // since the post was sent
	settle      uint8 // since its comment was known, and the settling wait began
	madeAge     uint8
	shownAge    uint8
	running     bool // the edit has landed
	editAge     uint8
	editFlies   bool
	goneAge     uint8
	waited      uint8 // of the step that is due, in a prompt world
}

// state is all contenders: those with an id first, in the order of their ids, then
// the others in any order. That is what makes equal worlds equal.
type state [3]proc

// clip keeps an age within what its bits hold and anybody can tell.
func (m *model) clip(age uint8, most int) uint8 { return uint8(min(int(age), most, 31)) }

// ticks is how many have to pass until a time has.
func ticks(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// normal forgets what makes no difference any more.
func (m *model) normal(s state) state {
	for i := range s {
		p := &s[i]
		if p.phase != posting && p.phase != seeking && p.phase != settling && p.phase != editing {
			p.sent = 0
		}
		if p.phase != settling {
			p.settle = 0
		}
		if p.body != made && p.body != shown && p.body != gone {
			p.madeAge = 0
		}
		hidden := p.body == gone && int(p.goneAge) >= m.lag
		lapsed := p.body == shown && p.phase == out && !p.running && !p.editFlies && int(p.madeAge) >= ticks(m.rules.posting)
		if hidden || lapsed || p.phase == out && p.body == none {
			*p = proc{phase: out, body: over}
		}
		if p.body == gone {
			p.editFlies = false // it lands on nothing
		}
		if p.running && int(p.editAge) >= m.lag {
			p.madeAge, p.shownAge = 0, uint8(m.lag)
		}
		if p.running && p.phase == out {
			p.editFlies = false // the same text again
		}
	}
	for i := 1; i < m.n; i++ { // insertion sort: three at most, and nearly in order
		for j := i; j > 0 && before(s[j], s[j-1]); j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s
}

// hasID reports whether a comment has an id that still means anything.
func (p proc) hasID() bool { return made <= p.body && p.body <= gone }

func before(p, q proc) bool {
	if p.hasID() || q.hasID() {
		return p.hasID() && !q.hasID()
	}
	return p.key() < q.key()
}

// key packs a contender.
func (p proc) key() uint32 {
	k := uint32(p.phase)<<3 | uint32(p.body)
	k = k<<5 | uint32(p.sent)
	k = k<<5 | uint32(p.settle)
	k = k<<5 | uint32(p.madeAge)
	k = k<<2 | uint32(p.shownAge)
	k = k<<2 | uint32(p.editAge)
	k = k<<2 | uint32(p.goneAge)
	k = k<<1 | uint32(p.waited)
	if k <<= 1; p.running {
		k |= 1
	}
	if k <<= 1; p.editFlies {
		k |= 1
	}
	return k
}

// tick lets a second pass.
func (m *model) tick(s state) state {
	for i := range m.n {
		p := &s[i]
		p.sent = m.clip(p.sent+1, ticks(m.rules.cutoff))
		p.settle = m.clip(p.settle+1, max(ticks(m.rules.low), ticks(m.rules.cutoff)))
		p.madeAge = m.clip(p.madeAge+1, ticks(m.rules.posting))
		if p.body >= shown {
			p.shownAge = m.clip(p.shownAge+1, m.lag)
		}
		if p.running {
			p.editAge = m.clip(p.editAge+1, m.lag)
		}
		if p.body == gone {
			p.goneAge = m.clip(p.goneAge+1, m.lag)
		}
		if m.live && m.due(*p) {
			p.waited = 1
		}
	}
	return s
}

// due reports whether a prompt contender, or the forge for it, has a step to do.
func (m *model) due(p proc) bool {
	switch p.phase {
	case idle, started:
		return false
	case out:
		return p.body < gone
	case settling:
		return int(p.settle) >= ticks(m.rules.low)
	}
	return true
}

// now, by everybody's own clock and by the forge's.
const bootNow = 1000 * time.Hour

var forgeNow = time.Unix(1<<30, 0)

// ids name the contenders by their place.
var ids = [3]string{"a", "b", "c"}

// What a reader may see of a comment: any of these, together.
const (
	seeNothing uint = 1 << iota
	seePosted
	seeLapsed
	seeRunning
)

// views tells what a reader may see of a comment.
func (m *model) views(p proc) (see uint) {
	if p.body != shown && p.body != gone {
		return seeNothing
	}
	if p.body == gone || int(p.shownAge) < m.lag {
		see = seeNothing
	}
	switch stale := !p.running || int(p.editAge) < m.lag; {
	case stale && int(p.madeAge) < ticks(m.rules.posting):
		see |= seePosted
	case stale:
		see |= seeLapsed
	}
	if p.running {
		see |= seeRunning
	}
	return see
}

// comment is what is read of contender i's comment.
func (m *model) comment(i int, p proc, see uint) Reservation {
	r := Reservation{Comment: int64(i + 1), Created: forgeNow.Add(-time.Duration(p.madeAge) * time.Second), Updated: forgeNow,
		Marker: Marker{State: Posted, ID: ids[i], Posting: m.rules.posting, TTL: m.rules.ttl}}
	if see == seeRunning {
		r.Marker.State = Running
	}
	return r
}

// reads lists everything that a list may lead contender i to.
func (m *model) reads(s state, i int) []verb {
	p := s[i]
	key := (uint(i)<<5|uint(p.sent))<<5 | uint(p.settle)
	key <<= 1
	if p.phase == settling {
		key++
	}
	var views [3]uint
	for j := range m.n {
		views[j] = m.views(s[j])
		key = key<<9 | views[j]<<5 | uint(s[j].madeAge)
	}
	if found, ok := m.acts[key]; ok {
		return found
	}
	o := own{phase: asking, id: ids[i], sent: bootNow - time.Duration(p.sent)*time.Second}
	if p.phase == settling {
		o.comment, o.known = int64(i+1), bootNow-time.Duration(p.settle)*time.Second
	}
	var found []verb
	var choose func(j int, list []Reservation)
	choose = func(j int, list []Reservation) {
		if j == m.n {
			if m.patient && o.comment != 0 {
				o.known = bootNow
			}
			a := m.rules.next(o, &look{asked: bootNow, at: forgeNow, markers: list}, bootNow)
			if !slices.Contains(found, a.do) {
				found = append(found, a.do)
			}
			return
		}
		for see := seeNothing; see <= seeRunning; see <<= 1 {
			switch {
			case views[j]&see == 0:
			case see == seeNothing, m.rush && j > i && see == seePosted:
				choose(j+1, list)
			default:
				choose(j+1, append(slices.Clip(list), m.comment(j, s[j], see)))
			}
		}
	}
	choose(0, nil)
	if m.acts == nil {
		m.acts = map[uint][]verb{}
	}
	m.acts[key] = found
	return found
}

// steps lists the worlds that one step leads to.
func (m *model) steps(s state) []state {
	list := m.list[:0]
	with := func(i int, change func(p *proc)) {
		t := s
		change(&t[i])
		t[i].waited = 0
		list = append(list, t)
	}
	// A step of the forge is part of the request that it is for.
	forge := func(i int, change func(p *proc)) {
		t := s
		change(&t[i])
		list = append(list, t)
	}
	for i := range m.n {
		p := s[i]
		switch p.phase {
		case idle:
			with(i, func(p *proc) { p.phase, p.body, p.sent = posting, flying, 0 })
		case posting:
			if p.body >= shown {
				with(i, func(p *proc) { p.phase, p.settle = settling, 0 })
			}
			if !m.live {
				with(i, func(p *proc) { p.phase = seeking })
			}
		case seeking, settling:
			if p.phase == settling && int(p.settle) < ticks(m.rules.low) {
				break
			}
			again := false
			for _, a := range m.reads(s, i) {
				switch a {
				case adopt:
					with(i, func(p *proc) { p.phase, p.settle = settling, 0 })
				case edit:
					with(i, func(p *proc) { p.phase, p.editFlies = editing, true })
				case withdraw:
					with(i, func(p *proc) { p.phase = out })
				case read:
					again = true
				}
			}
			if again && m.live {
				with(i, func(*proc) {})
			}
		case editing:
			if p.running { // the answer comes
				o := own{phase: edited, id: "x", sent: bootNow - time.Duration(p.sent)*time.Second}
				if m.rules.next(o, nil, bootNow).do == start {
					with(i, func(p *proc) { p.phase = started })
				} else {
					with(i, func(p *proc) { p.phase = out })
				}
			}
		case started:
			if !m.live {
				with(i, func(p *proc) { p.phase = out }) // the work is done
			}
		}
		if !m.live && p.phase != idle && p.phase != started && p.phase != out {
			with(i, func(p *proc) { p.phase = out }) // late, ended, or broken and tidied
		}
		switch {
		case p.body == flying:
			// Its id is the next one: it comes behind all that have one.
			t := s
			copy(t[i:], s[i+1:m.n])
			at := 0
			for at < m.n-1 && t[at].hasID() {
				at++
			}
			copy(t[at+1:m.n], slices.Clone(t[at:m.n-1]))
			t[at] = p
			t[at].body, t[at].madeAge = made, 0
			list = append(list, t)
		case p.body == made:
			forge(i, func(p *proc) { p.body, p.shownAge = shown, 0 })
		case p.body == shown && p.editFlies:
			forge(i, func(p *proc) {
				p.editFlies = false
				if !p.running {
					p.running, p.editAge = true, 0
				}
			})
		}
		if p.body == shown && p.phase == out {
			with(i, func(p *proc) { p.body, p.goneAge = gone, 0 })
		}
	}
	if !m.live || !slices.ContainsFunc(s[:m.n], func(p proc) bool { return p.waited == 1 }) {
		list = append(list, m.tick(s))
	}
	m.list = list
	return list
}

// bad worlds have two winners or, when all are prompt, none in the end.
func (m *model) bad(s state) bool {
	winners, over := 0, 0
	for _, p := range s[:m.n] {
		switch {
		case p.phase == started:
			winners++
		case p.phase == out && p.body >= gone:
			over++
		case p.phase != idle:
			over = -m.n // it goes on
		}
	}
	return winners > 1 || m.live && winners == 0 && over > 0
}
