package config

import (
	"context"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Live is the configuration in force of a process that runs for long. It is always
// the last good one.
type Live struct {
	src   Sources
	apply func(*Config) error
	now   atomic.Pointer[Config]
	first map[string]stamp // what first was made of
	mu    sync.Mutex       // held while one is read and applied
	stale atomic.Bool
}

// NewLive keeps first, which was loaded from src and is in force already. apply is
// told of each that follows, one at a time, before Current is the new one; if it
// cannot follow, the old one stays.
func NewLive(src Sources, first *Config, apply func(*Config) error) *Live {
	l := &Live{src: src, apply: apply}
	l.now.Store(first)
	l.first = l.look()
	return l
}

// Current is the configuration in force. It does not change; ask again.
func (l *Live) Current() *Config { return l.now.Load() }

// Stale reports whether the one that was read last is not in force.
func (l *Live) Stale() bool { return l.stale.Load() }

// Reload reads the configuration anew and puts it in force. With an error, a
// *Problems or that of apply, the last good one stays. Settings that need a restart
// keep their old value, and a warning says so.
func (l *Live) Reload() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.next()
	l.stale.Store(err != nil)
	if err == nil {
		l.now.Store(c)
	}
	return err
}

// next reads the configuration and has it applied.
func (l *Live) next() (*Config, error) {
	c, err := Load(l.src)
	if err != nil {
		return nil, err
	}
	old := l.now.Load()
	if old.File != "" && c.File == "" {
		// Nobody stops all work by renaming a file; an empty one does.
		return nil, Refuse(Origin{Name: old.File}, "is gone")
	}
	c.keep(old)
	return c, l.apply(c)
}

// keep takes from old what an open store and an open port are made of.
func (c *Config) keep(old *Config) {
	keepValue(c, "store", &c.Store, old.Store)
	keepValue(c, "claims", &c.Claims, old.Claims)
	keepValue(c, "listen", &c.Listen, old.Listen)
	keepValue(c, "waiting_max", &c.WaitingMax, old.WaitingMax)
	keepValue(c, "retention.decisions", &c.Retention.Decisions, old.Retention.Decisions)
}

func keepValue[T comparable](c *Config, key string, v *Value[T], old Value[T]) {
	if v.V == old.V {
		return
	}
	c.Warnings = append(c.Warnings, Problem{v.Origin, key + ": was changed, which takes effect with a restart"}.String())
	*v = old
}

// lookEvery is how often Run looks at the file.
const lookEvery = time.Second

// Run reloads when the file, or one that holds a secret, is another than before, and
// has been the same for one more look: an editor may write it in steps. It returns
// when ctx ends. Each error is told once.
func (l *Live) Run(ctx context.Context, onError func(error)) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	loaded := l.first
	last := loaded
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before := last
		last = l.look()
		if reflect.DeepEqual(last, loaded) || !reflect.DeepEqual(last, before) {
			continue
		}
		loaded = last // from before it is read, so that no change falls between
		if err := l.Reload(); err != nil {
			onError(err)
		}
	}
}

// stamp tells two states of a file apart. Its zero value is no file.
type stamp struct {
	device, inode uint64
	size          int64
	mode          os.FileMode
	changed       time.Time
}

// look notes all files that the configuration is made of, or could be.
func (l *Live) look() map[string]stamp {
	files := map[string]stamp{}
	list, _ := l.src.candidates() // an error shows when it is loaded
	for _, c := range list {
		files[c.path] = stampOf(c.path)
	}
	for _, s := range l.Current().secrets() {
		if s.File.V != "" {
			files[s.File.V] = stampOf(s.File.V)
		}
	}
	return files
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	s := stamp{size: info.Size(), mode: info.Mode(), changed: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode = uint64(sys.Dev), sys.Ino
	}
	return s
}
