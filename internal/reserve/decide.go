package reserve

import "time"

// rules are the times that one contender goes by.
type rules struct {
	// low and high bound the settling wait; high is also the R of the cut-off. Both
	// are 0 where a read is never behind an answered write.
	low, high time.Duration
	posting   time.Duration // P: a posted marker lapses so long after it was made
	ttl       time.Duration // a running one so long after its last edit
	margin    time.Duration // for the forge's clock: it shows whole seconds, and runs a little otherwise
	// cutoff is how long after the post was sent the edit must have been answered:
	// P - R - margin. Then every reader sees running before posted lapses.
	cutoff time.Duration
	again  time.Duration // between two looks at the list
}

// maxMargin is what the forge's clock may be off by within one posting time.
const maxMargin = 5 * time.Second

func newRules(low, high, posting, ttl time.Duration) rules {
	posting = max(posting, 4*high)
	r := rules{low: low, high: high, posting: posting, ttl: ttl, margin: min(maxMargin, posting/4)}
	r.cutoff = posting - high - r.margin
	r.again = min(max(low/2, 250*time.Millisecond), 2*time.Second)
	return r
}

// phase is how far a contender has come.
type phase int

const (
	fresh  phase = iota // nothing was sent
	asking              // the post has ended, answered or not
	edited              // the edit to running was answered
)

// own is what a contender knows of itself.
type own struct {
	phase   phase
	id      string
	comment int64         // 0: the answer to the post was lost
	sent    time.Duration // boot time just before the post
	known   time.Duration // boot time when our comment was known to be there: the answer, or the list that showed it
	ready   time.Duration // boot time from which on a list counts: the settling wait is over
	force   bool          // the reservations of others are passed
}

// look is a list that was read.
type look struct {
	asked   time.Duration // boot time just before it was asked for
	at      time.Time     // the forge's clock
	markers []Reservation // genuine ones, by comment id
}

// verb is a thing to do.
type verb string

const (
	post     verb = "post"     // send our comment
	read     verb = "read"     // read the list, not before act.when
	adopt    verb = "adopt"    // our comment is act.other: settle from now on
	edit     verb = "edit"     // edit ours to running
	start    verb = "start"    // we hold it
	withdraw verb = "withdraw" // delete ours: act.other is in the way, or it took too long
)

type act struct {
	do    verb
	when  time.Duration
	other Reservation // zero: nobody
}

// next is the protocol: what a contender does, by what it knows of itself, the last
// list it read (nil for none), and the boot time. The program and its model call
// this one function.
func (r rules) next(o own, l *look, now time.Duration) act {
	switch {
	case o.phase == fresh:
		if other := l.inTheWay(o); other.Comment != 0 && !o.force {
			return act{do: withdraw, other: other} // nothing was posted yet
		}
		return act{do: post}
	case now >= o.sent+r.cutoff:
		// Soon our marker lapses for others, who then may win.
		return act{do: withdraw, other: l.inTheWay(o)}
	case o.phase == edited:
		return act{do: start}
	case l == nil || l.asked < o.ready:
		return act{do: read, when: o.ready}
	}
	mine, shown := l.mine(o.id)
	switch {
	case !shown:
		// A list that lacks our comment is behind, or somebody took it from us:
		// nothing rests on it.
		return act{do: read, when: now + r.again}
	case o.comment == 0:
		return act{do: adopt, other: mine}
	case !mine.Live(l.at):
		return act{do: withdraw}
	case o.force:
		return act{do: edit}
	}
	switch other := l.inTheWay(o); {
	case other.Comment == 0:
		return act{do: edit}
	case other.Marker.State == Running, other.Comment < mine.Comment:
		return act{do: withdraw, other: other}
	}
	// All others are posted, and higher. One that was made before ours was sure to be
	// there may have read a list without us, and run yet. The later ones will see us
	// and withdraw: who waited for them too would wait for as long as new ones come.
	there := l.at.Add(o.known - l.asked + r.margin)
	for _, other := range l.markers {
		if other.Marker.ID != o.id && other.Live(l.at) && !other.Created.After(there) {
			return act{do: read, when: now + r.again, other: other}
		}
	}
	return act{do: edit}
}

// renew says until when (boot time) an edit that renews our running marker must be
// answered; never, if it does not count any more, or others may not see it in time.
func (r rules) renew(o own, l look) (until time.Duration, ok bool) {
	mine, shown := l.mine(o.id)
	if !shown || mine.Marker.State != Running {
		return 0, false
	}
	left := mine.Updated.Add(r.lease()).Sub(l.at)
	return l.asked + left, left > 0
}

// lease is how long after an edit was sent its author may count on it: less than the
// time to live by what others may be behind.
func (r rules) lease() time.Duration { return r.ttl - r.high - r.margin }

// mine finds our own marker.
func (l *look) mine(id string) (Reservation, bool) {
	for _, s := range l.markers {
		if s.Marker.ID == id {
			return s, true
		}
	}
	return Reservation{}, false
}

// inTheWay finds the live marker of somebody else that comes first: a running one,
// else the lowest.
func (l *look) inTheWay(o own) (first Reservation) {
	if l == nil {
		return first
	}
	for _, s := range l.markers {
		switch {
		case s.Marker.ID == o.id || !s.Live(l.at):
		case s.Marker.State == Running:
			return s
		case first.Comment == 0 || s.Comment < first.Comment:
			first = s
		}
	}
	return first
}
