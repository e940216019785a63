package standby

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A supervisor says on a pipe of its own whether it can work, and closes it.
const (
	wordFD   = 3
	ready    = "ready"
	wordMax  = 4096
	waitMost = 10 * time.Second // for the word
)

// Tell is the supervisor's first word: it is ready, or err says why not.
func Tell(err error) {
	text := ready
	if err != nil {
		text = err.Error()
	}
	f := os.NewFile(wordFD, "word")
	if _, err := io.WriteString(f, text); err == nil { // else nobody asked
		f.Close()
	}
}

// listen takes the word in.
func (s *Supervisor) listen(f *os.File) {
	defer close(s.said)
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, wordMax))
	if s.word = strings.TrimSpace(string(text)); err != nil {
		s.word = err.Error()
	}
}

// await waits for the word. A supervisor that cannot work is ended.
func (s *Supervisor) await() error {
	late := time.NewTimer(waitMost)
	defer late.Stop()
	var err error
	select {
	case <-s.said:
		switch s.word {
		case ready:
			return nil
		case "":
			err = errors.New("it ended")
		default:
			err = errors.New(s.word)
		}
	case <-late.C:
		err = fmt.Errorf("it is not ready within %v", waitMost)
	}
	s.kill()
	return fmt.Errorf("a supervisor cannot work: %w", err)
}
