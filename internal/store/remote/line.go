package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// Bounds of the stream that wakes a ticket.
const (
	silenceMax = 40 * time.Second // the server says every 15 s that it lives
	pauseMin   = 100 * time.Millisecond
	pauseMax   = 5 * time.Second
)

// wait is one ticket that is to be woken.
type wait struct {
	poke chan struct{} // holds one poke, so that none is missed
	stop context.CancelFunc
}

func (w *wait) wake() {
	select {
	case w.poke <- struct{}{}:
	default: // it has one that it has not seen yet
	}
}

// Wake implements claim.Store. When it returns the server listens for the ticket;
// after a break, when it listens again, the ticket is poked, for it may have missed
// a word.
func (s *Store) Wake(ctx context.Context, ref slot.Ref, ticket claim.Ticket) (<-chan struct{}, error) {
	s.mu.Lock()
	w := s.line[ticket.ID]
	s.mu.Unlock()
	if w != nil {
		return w.poke, nil
	}
	under, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.ctx, cancel)
	stop := func() { detach(); cancel() }
	words, err := s.listen(under, ref, ticket)
	if err != nil {
		stop()
		if s.ctx.Err() != nil {
			return nil, s.unknown("wait", errClosed)
		}
		return nil, err
	}
	w = &wait{make(chan struct{}, 1), stop}
	s.mu.Lock()
	s.line[ticket.ID] = w
	s.mu.Unlock()
	go s.stay(under, ref, ticket, words, w)
	return w.poke, nil
}

// stay passes the server's pokes on until ctx ends, over any number of breaks.
func (s *Store) stay(ctx context.Context, ref slot.Ref, ticket claim.Ticket, words *words, w *wait) {
	pause := pauseMin
	for {
		for words != nil && words.next() {
			pause = pauseMin
			w.wake()
		}
		if clock.Pause(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, pauseMax)
		// Without an answer nobody is poked: there is nothing to be asked yet.
		if words, _ = s.listen(ctx, ref, ticket); words != nil {
			w.wake()
		}
	}
}

// words are the pokes of one connection.
type words struct {
	lines *bufio.Scanner
	stop  context.CancelFunc
	late  *time.Timer // cuts a connection that fell silent
}

// next waits for a poke; false is the end of the connection.
func (w *words) next() bool {
	for w.lines.Scan() {
		w.late.Reset(silenceMax)
		if w.lines.Text() == "event: look" {
			return true
		}
	}
	w.late.Stop()
	w.stop()
	return false
}

// listen returns when the server listens for the ticket.
func (s *Store) listen(ctx context.Context, ref slot.Ref, ticket claim.Ticket) (*words, error) {
	q := about(ref)
	q.Set("ticket", ticket.ID)
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(silenceMax, cancel)
	fail := func(err error) (*words, error) {
		late.Stop()
		cancel()
		return nil, s.unknown("wait", err)
	}
	res, err := s.open(ctx, get("wait", "/line", q), nil)
	if err != nil {
		return fail(err)
	}
	stop := func() { cancel(); res.Body.Close() }
	if res.StatusCode != http.StatusOK || media(res) != "text/event-stream" {
		res.Body.Close()
		return fail(fmt.Errorf("the answer (%s) is not one of the API's", res.Status))
	}
	w := &words{lines: bufio.NewScanner(res.Body), stop: stop, late: late}
	for w.lines.Scan() {
		if strings.TrimSpace(w.lines.Text()) == "event: ready" {
			return w, nil
		}
	}
	res.Body.Close()
	return fail(errors.New("the connection ended"))
}

// Leave implements claim.Store.
func (s *Store) Leave(ctx context.Context, ref slot.Ref, ticket claim.Ticket) error {
	s.forget(ticket.ID)
	_, err := ask(ctx, s, step("leave the line", "/line/leave", wire.Leave{
		Ref: ref.String(), Ticket: wire.Ticket{ID: ticket.ID, Process: ticket.Process},
	}), fine)
	return err
}

// forget ends the listening for a ticket.
func (s *Store) forget(ticket string) {
	s.mu.Lock()
	w := s.line[ticket]
	delete(s.line, ticket)
	s.mu.Unlock()
	if w != nil {
		w.stop()
	}
}
