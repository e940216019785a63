package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The first file found is the one.
func TestWhichFile(t *testing.T) {
	const system = "etc/oneslot.toml"
	for name, tt := range map[string]struct {
		flag, env, xdg string // below the root
		exist          []string
		want           string
	}{
		"none":                 {},
		"system":               {exist: []string{system}, want: system},
		"user before system":   {exist: []string{system, user}, want: user},
		"xdg before home":      {xdg: "x", exist: []string{user, "x/oneslot/oneslot.toml"}, want: "x/oneslot/oneslot.toml"},
		"xdg instead of home":  {xdg: "x", exist: []string{user, system}, want: system},
		"environment":          {env: "e.toml", exist: []string{"e.toml", user}, want: "e.toml"},
		"flag":                 {flag: "f.toml", env: "e.toml", exist: []string{"f.toml", "e.toml"}, want: "f.toml"},
		"flag, no environment": {flag: "f.toml", env: "missing.toml", exist: []string{"f.toml"}, want: "f.toml"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, f := range tt.exist {
				w.write(t, f, `host = "`+f+`"`)
			}
			abs := func(s string) string {
				if s == "" {
					return ""
				}
				return filepath.Join(w.root, s)
			}
			w.ConfigFlag, w.vars["ONESLOT_CONFIG"], w.vars["XDG_CONFIG_HOME"] = abs(tt.flag), abs(tt.env), abs(tt.xdg)
			c := mustLoad(t, w)
			wantLine(t, c.File, abs(tt.want))
			if tt.want != "" {
				wantLine(t, c.Host.V, tt.want)
			}
		})
	}
}

// Relative: the file's name counts from the working folder, what stands in it
// from the file's folder.
func TestRelativeFile(t *testing.T) {
	w := newWorld(t)
	w.write(t, "srv/conf/c.toml", `store = "s.db"`)
	w.ConfigFlag = "conf/c.toml"
	wantLine(t, mustLoad(t, w).StorePath(), filepath.Join(w.root, "srv/conf/s.db"))

	w.Getwd = func() (string, error) { return "", errors.New("gone") }
	if got := refused(t, w); !strings.HasPrefix(got, "flag --config: its path is relative") {
		t.Error(got)
	}
}

func TestNamedFileMustBeThere(t *testing.T) {
	w := newWorld(t)
	w.ConfigFlag = filepath.Join(w.root, "no.toml")
	wantLine(t, refused(t, w), "/no.toml: cannot be read: no such file or directory (named by flag --config)")
	w.ConfigFlag, w.vars["ONESLOT_CONFIG"] = "", "no.toml"
	wantLine(t, refused(t, w), "/srv/no.toml: cannot be read: no such file or directory (named by environment ONESLOT_CONFIG)")
}

// A file that is there and cannot be read is not passed over: it would have
// named another store (P8).
func TestUnreadableFiles(t *testing.T) {
	type row = struct {
		make func(path string) error
		want string
	}
	files := map[string]row{
		"folder":  {func(p string) error { return os.Mkdir(p, 0o700) }, "is a folder, not a file"},
		"loop":    {func(p string) error { return os.Symlink(p, p) }, "cannot be read: too many levels of symbolic links"},
		"pipe":    {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is not a regular file"},
		"too big": {func(p string) error { return os.WriteFile(p, make([]byte, 10<<20), 0o600) }, "is larger than 1MiB: is this the right file?"},
	}
	if os.Getuid() != 0 { // root may read all; a loop of links goes the same way
		files["no right"] = row{func(p string) error { return os.WriteFile(p, nil, 0) }, "cannot be read: permission denied"}
	}
	for name, tt := range files {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(w.root, user)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			wantLine(t, refused(t, w), "/"+user+": "+tt.want)
		})
	}
}

func TestDevNullIsNoFile(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "nonsense = 1")
	w.vars["ONESLOT_CONFIG"] = os.DevNull
	if c := mustLoad(t, w); len(c.Warnings) != 0 {
		t.Error(c.Warnings)
	}
}

func TestPermissionsAreAWarning(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o664: true, 0o602: true} {
		w := newWorld(t)
		path := w.write(t, user, "")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := mustLoad(t, w).Warnings; (len(got) == 1) != warned {
			t.Errorf("%o: %q", mode, got)
		}
	}
}

func TestBytesThatAreNoTOML(t *testing.T) {
	for name, tt := range map[string]struct{ data, want string }{
		"nul":          {"host = 'a'\nstore = 'a\x00b'", "2:11: a NUL byte: this is no text file"},
		"utf-16":       {"\xff\xfeh\x00o\x00", "1:1: the file is UTF-16; save it as UTF-8"},
		"latin-1":      {"# caf\xe9\nhost = 'a'", "1:6: not UTF-8"},
		"bom, bad key": {"\xef\xbb\xbfhots = 'a'", `1:1: unknown key "hots"; did you mean host?`},
		"crlf":         {"host = 'a'\r\n\r\nhots = 'a'\r\n", `3:1: unknown key "hots"; did you mean host?`},
		"lone cr":      {"host = 'a'\rstore = 'b'", "1:11: expected newline but got U+000D"},
		"control":      {"host = \"a\x1b[2J\"", "1:10: basic strings cannot have control characters"},
		"cut off":      {"host = \"a", "1:9: unterminated basic string"},
		"at its end":   {"host =", "1:6: expected value, not end of input"},
		"nesting":      {"host = " + strings.Repeat("[", 1<<19), "1:10008: arrays and inline tables are nested more than the maximum of 10000 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, user, tt.data)
			if got, want := refused(t, w), "/"+user+":"+tt.want; !strings.HasPrefix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	w := newWorld(t)
	w.write(t, user, "\xef\xbb\xbfhost = 'a'\r\n[retention]\r\nlogs = '1d'\r\n")
	wantLine(t, mustLoad(t, w).Host.V, "a")
}

// A file full of anything takes no more time than it has bytes, more or less: the
// fastest way to get this wrong took minutes.
func TestLargeFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		head, line string
		problems   int // at least
	}{
		"unknown keys":            {"", "k%030d = 1\n", 20_000},
		"unknown tables":          {"", "[t%030d]\n", 20_000},
		"keys in one":             {"[nothing]\n", "k%d = 1\n", 1},
		"unknown keys in a list":  {"", "[[forge]]\nhots%030d = 1\n", 20_000},
		"later tables":            {"", "[[hook]] # %d\n", 30_000},
		"nothing that is refused": {"", "[[forge]]\nhost = 'h%d'\ntype = 'gitea'\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.NewBufferString(tt.head)
			for i := 0; b.Len() < maxFile-100; i++ {
				fmt.Fprintf(b, tt.line, i)
			}
			w := newWorld(t)
			w.write(t, user, b.String())
			start := time.Now()
			_, err := Load(w.Sources)
			p := &Problems{}
			if errors.As(err, &p) != (tt.problems > 0) || len(p.List) < tt.problems {
				t.Errorf("%d problems, want %d", len(p.List), tt.problems)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// written is what is known of a file that was changed at that time.
type written struct {
	fs.FileInfo
	at time.Time
}

func (w written) ModTime() time.Time { return w.at }

// An editor that writes in place is not read in the middle: half of a file may look
// whole, and mean something else.
func TestReadStill(t *testing.T) {
	for name, c := range map[string]struct {
		ages []time.Duration // at each reading
		want string
	}{
		"left alone":        {[]time.Duration{time.Minute}, "1"},
		"being written":     {[]time.Duration{0, 0, time.Minute}, "3"},
		"a clock far ahead": {[]time.Duration{-time.Hour}, "1"},
		"written for ever":  {[]time.Duration{0}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			data, _, err := readStill("c.toml", func(string) ([]byte, fs.FileInfo, error) {
				age := c.ages[min(n, len(c.ages)-1)]
				n++
				return []byte(strconv.Itoa(n)), written{at: time.Now().Add(-age)}, nil
			})
			if string(data) != c.want || (err != nil) != (c.want == "") {
				t.Errorf("%s: reading %s counts, %v; want that of %s", name, data, err, c.want)
			}
		})
	}
}
