package api

import (
	"sync"
	"time"
)

// goneAfter is how long a ticket keeps its place when nobody listens for it any
// more: enough to come back after a break, or a restart of the server.
const goneAfter = time.Minute

// lines are the tickets that somebody listens for, or did until just now.
type lines struct {
	mu  sync.Mutex
	all map[string]*listening
}

type listening struct {
	streams int
	gone    *time.Timer // runs when there is none
}

func (l *lines) begin(ticket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]*listening{}
	}
	e := l.all[ticket]
	if e == nil {
		e = &listening{}
		l.all[ticket] = e
	}
	if e.gone != nil {
		e.gone.Stop()
		e.gone = nil
	}
	e.streams++
}

// end is called once for each begin; leave gives up the place of a ticket that
// nobody came back for.
func (l *lines) end(ticket string, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.all[ticket]
	if e == nil {
		return // it has the slot, or left
	}
	if e.streams--; e.streams > 0 {
		return
	}
	e.gone = time.AfterFunc(goneAfter, func() {
		l.mu.Lock()
		over := l.all[ticket] == e && e.streams == 0
		if over {
			delete(l.all, ticket)
		}
		l.mu.Unlock()
		if over {
			leave()
		}
	})
}

// forget is for a ticket that is no place in line any more.
func (l *lines) forget(ticket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.all[ticket]; e != nil {
		if e.gone != nil {
			e.gone.Stop()
		}
		delete(l.all, ticket)
	}
}
