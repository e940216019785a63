package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// candidate is a place where a configuration file may be.
type candidate struct {
	path  string
	named string // by whom; empty: nobody, so that it may be missing
}

// candidates lists the places to look in; the first file that is there is it.
func (s Sources) candidates() ([]candidate, error) {
	for _, c := range []candidate{
		{s.ConfigFlag, "flag --config"},
		{s.env("ONESLOT_CONFIG"), "environment ONESLOT_CONFIG"},
	} {
		if c.path == "" {
			continue
		}
		if !filepath.IsAbs(c.path) {
			wd, err := s.Getwd()
			if err != nil {
				return nil, fmt.Errorf("%s: its path is relative, and to what could not be found out: %w", c.named, err)
			}
			c.path = filepath.Join(wd, c.path)
		}
		return []candidate{c}, nil
	}
	var list []candidate
	if dir := s.userDir("XDG_CONFIG_HOME", ".config"); dir != "" {
		list = append(list, candidate{path: filepath.Join(dir, "oneslot", "oneslot.toml")})
	}
	if s.SystemFile != "" {
		list = append(list, candidate{path: s.SystemFile})
	}
	return list, nil
}

// DefaultFile is where a new configuration file of this user belongs: the place that
// was named, else the first that is looked at.
func (s Sources) DefaultFile() (string, error) {
	list, err := s.candidates()
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errors.New("no place for it: set HOME or XDG_CONFIG_HOME, or name a file")
	}
	return list[0].path, nil
}

// userDir is the folder that the variable names, else that one below HOME, else
// "". A relative one is as good as none: so the XDG specification wants it.
func (s Sources) userDir(variable string, below ...string) string {
	if dir := s.env(variable); filepath.IsAbs(dir) {
		return dir
	}
	if home := s.env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(append([]string{home}, below...)...)
	}
	return ""
}

// readFile reads the file of the first candidate that is there. The path is
// empty if there is none. A warning may come with it.
func readFile(list []candidate) (path string, data []byte, warning string, err error) {
	for _, c := range list {
		data, info, err := readStill(c.path, readBounded)
		if c.named == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
			continue
		}
		if err != nil {
			if c.named != "" {
				err = fmt.Errorf("%w (named by %s)", err, c.named)
			}
			return c.path, nil, "", err
		}
		if mode := info.Mode().Perm(); c.path != os.DevNull && mode&0o022 != 0 {
			warning = fmt.Sprintf("%s can be written by others (mode %04o); chmod go-w it", c.path, mode)
		}
		return c.path, data, warning, nil
	}
	return "", nil, "", nil
}

// What was written just now may be half of what it will be, and half of a file may well
// be read as a whole one: it is read again until it was left alone for stillFor.
const (
	stillFor   = 50 * time.Millisecond
	stillTries = 20
)

func readStill(path string, read func(string) ([]byte, fs.FileInfo, error)) ([]byte, fs.FileInfo, error) {
	for range stillTries {
		data, info, err := read(path)
		if err != nil || path == os.DevNull {
			return data, info, err
		}
		if age := time.Since(info.ModTime()); age < 0 || age >= stillFor {
			return data, info, nil
		}
		time.Sleep(stillFor)
	}
	return nil, nil, errors.New("is being written all the time; try again when that is over")
}

// readBounded reads a regular file of bounded size. /dev/null is one too: it is
// how to say "no file".
func readBounded(path string) ([]byte, fs.FileInfo, error) {
	// Non-blocking, so that a named pipe is refused rather than waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, plain(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, plain(err)
	}
	if info.IsDir() {
		return nil, nil, errors.New("is a folder, not a file")
	}
	if !info.Mode().IsRegular() && path != os.DevNull {
		return nil, nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, plain(err)
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("is larger than %s: is this the right file?", formatBytes(maxFile))
	}
	return data, info, nil
}

// plain drops the path from the error: the problem names it.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return err
}
