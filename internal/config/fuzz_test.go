package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad: whatever bytes the file has, it is read or every problem says where
// and what, in one line that is safe to print.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("[[forge]]\n[forge.token]\n[[forge.token]]\n[forge]"))
	f.Add([]byte("api = [[{}]]\nretention = {decisions.x = 1, logs = [{}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, bad := defaults(), &Problems{}
		l := loader{src: Sources{
			Env:      func(name string) (string, bool) { return "/home", name == "HOME" },
			Getwd:    func() (string, error) { return "/srv", nil },
			Hostname: func() (string, error) { return "host-a", nil },
		}, c: c, bad: bad}
		c.File = "/c.toml"
		l.parts = readTOML(c.File, data, c, bad)
		l.complete()
		if l.certain(Refs) && !l.certain(Claims) || l.certain(Claims) && c.Store.V == "" {
			t.Errorf("what is certain? %v", l.parts)
		}
		err := bad.Err()
		if err == nil {
			good(t, c)
			return
		}
		var p *Problems
		if !errors.As(err, &p) {
			t.Fatal(err)
		}
		lines := strings.Count(string(data), "\n") + 1
		last := Origin{}
		for _, one := range p.List {
			at := one.Origin
			if at.Name != "/c.toml" || at.Line < 1 || at.Line > lines || at.Column < 1 || at.Column > len(data)+1 {
				t.Errorf("no such place: %s", one)
			}
			if at.Line < last.Line || at.Line == last.Line && at.Column < last.Column {
				t.Errorf("not in order: %s", err)
			}
			if last = at; one.Message == "" || checkLine(one.Message) != nil {
				t.Errorf("not a line: %q", one.Message)
			}
		}
	})
}

// good checks what a configuration without problems promises.
func good(t *testing.T, c *Config) {
	for _, e := range c.Entries() {
		if e.Value == "" || checkLine(e.Value) != nil {
			t.Errorf("%s = %q", e.Key, e.Value)
		}
	}
	if !filepath.IsAbs(c.StorePath()) || c.WaitingMax.V <= 0 || c.Retention.LogBytes.V <= 0 {
		t.Errorf("%+v", c)
	}
	for _, f := range c.Forges {
		if f.API.V == "" || f.Poll.V != 0 && (f.Poll.V < pollMin || f.Repos.Origin == (Origin{})) {
			t.Errorf("%+v", f)
		}
	}
	for _, r := range c.Rules {
		if len(r.On.V) == 0 || r.Every.V != 0 && r.Every.V < everyMin {
			t.Errorf("%+v", r)
		}
	}
	if r := c.Reservation; r.Enabled.V && !r.Key.IsSet() || r.Recheck.V.Min > r.Recheck.V.Max || ttlRechecks*r.Recheck.V.Max > r.TTL.V {
		t.Errorf("%+v", r)
	}
}

func checkLine(s string) error {
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return errors.New("control character")
		}
	}
	return nil
}
