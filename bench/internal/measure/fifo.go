package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// fifo is a named pipe by which workers tell how far they are. A shell's word in it
// is as near to the first instruction of a worker as one can look from outside.
type fifo struct {
	*os.File
	words chan word
}

type word struct {
	text string
	at   time.Time
}

func (b *Bench) newFifo() (*fifo, error) {
	b.stores++
	path := filepath.Join(b.Folder, fmt.Sprintf("fifo%d", b.stores))
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // so that nobody waits to open it
	if err != nil {
		return nil, err
	}
	return &fifo{File: f}, nil
}

// listen begins to read what workers say.
func (f *fifo) listen() {
	f.words = make(chan word, 1024)
	go func() {
		defer close(f.words)
		for s := bufio.NewScanner(f); s.Scan(); {
			f.words <- word{s.Text(), time.Now()}
		}
	}()
}

// wait waits for a word.
func (f *fifo) wait(ctx context.Context, text string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	select {
	case w, ok := <-f.words:
		if !ok || w.text != text {
			return time.Time{}, fmt.Errorf("a worker said %q, not %q", w.text, text)
		}
		return w.at, nil
	case <-ctx.Done():
		return time.Time{}, errors.Join(fmt.Errorf("no worker said %q", text), ctx.Err())
	}
}
