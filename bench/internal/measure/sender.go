package measure

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// sender sends requests that are ready as bytes, over one connection that stays:
// the client shares the machine with what is measured, and is to cost little.
type sender struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(host string) (*sender, error) {
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &sender{c, bufio.NewReader(c)}, nil
}

// accepted sends one request, and makes sure that it was accepted.
func (s *sender) accepted(request []byte) error {
	if _, err := s.conn.Write(request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(s.in, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("answered %s: %s", answer.Status, trim(text))
	}
	return err
}

// senders are several connections to one address.
func senders(host string, n int) (all []*sender, err error) {
	for range n {
		s, err := dial(host)
		if err != nil {
			hangUp(all)
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func hangUp(all []*sender) {
	for _, s := range all {
		s.conn.Close() //nolint:errcheck // every answer was read
	}
}

// flood sends all requests as fast as they are answered, and gives how many were
// per second.
func flood(all []*sender, requests [][]byte) (float64, error) {
	next := make(chan []byte, len(requests))
	for _, r := range requests {
		next <- r
	}
	close(next)
	at := time.Now()
	err := together(len(all), func(i int) error {
		for r := range next {
			if err := all[i].accepted(r); err != nil {
				return err
			}
		}
		return nil
	})
	return float64(len(requests)) / time.Since(at).Seconds(), err
}

// offer sends so many requests per second, whether they are answered or not, and
// gives how long after its time each was answered, in ms.
func offer(all []*sender, requests [][]byte, perSecond int) ([]float64, error) {
	type timed struct {
		n   int
		due time.Time
	}
	next := make(chan timed, len(requests))
	took := make([]float64, len(requests))
	begin := time.Now()
	go func() {
		defer close(next)
		for i := range requests {
			due := begin.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
			time.Sleep(time.Until(due))
			next <- timed{i, due}
		}
	}()
	err := together(len(all), func(i int) error {
		for r := range next {
			if err := all[i].accepted(requests[r.n]); err != nil {
				return err
			}
			took[r.n] = ms(time.Since(r.due))
		}
		return nil
	})
	return took, err
}
