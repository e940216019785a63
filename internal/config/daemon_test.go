package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestListen(t *testing.T) {
	for s, want := range map[string]struct {
		value string
		local bool
	}{
		"127.0.0.1:7180":         {"127.0.0.1:7180", true},
		"127.9.9.9:0":            {"127.9.9.9:0", true},
		"[::1]:7180":             {"[::1]:7180", true},
		"localhost:7180":         {"localhost:7180", true},
		"unix:/run/o.sock":       {"unix:/run/o.sock", true},
		"unix:o.sock":            {"unix:/srv/o.sock", true},
		":7180":                  {":7180", false},
		"0.0.0.0:7180":           {"0.0.0.0:7180", false},
		"[::ffff:127.0.0.1]:80":  {"[::ffff:127.0.0.1]:80", true},
		"10.0.0.1:7180":          {"10.0.0.1:7180", false},
		"localhost.evil.org:80":  {"localhost.evil.org:80", false},
		"[fe80::1%eth0]:7180":    {"[fe80::1%eth0]:7180", false},
		"build.example.org:7180": {"build.example.org:7180", false},
	} {
		w := newWorld(t)
		w.vars["ONESLOT_LISTEN"] = s
		if !want.local {
			wantLine(t, refused(t, w), "environment ONESLOT_LISTEN: listen: can be reached from other hosts, which needs [api] tokens")
			w.write(t, user, "[api]\ntokens = [{name = 'a', role = 'admin', env = 'T'}]")
		}
		c := mustLoad(t, w)
		wantLine(t, strings.ReplaceAll(c.Listen.V, w.root, ""), want.value)
		if c.Local() != want.local {
			t.Errorf("%s: local: %v", s, c.Local())
		}
	}
	for _, s := range []string{"7180", "localhost", "127.0.0.1:http", "127.0.0.1:+80", "127.0.0.1:080", "127.0.0.1:65536", "::1:80",
		"http://127.0.0.1:80", "127.0.0.1:80/", "unix:", "unix:a\nb", "a b:80"} {
		w := newWorld(t)
		w.vars["ONESLOT_LISTEN"] = s
		if got := refused(t, w); !strings.HasPrefix(got, "environment ONESLOT_LISTEN: ") || strings.Contains(got, "\n") {
			t.Errorf("%q: %s", s, got)
		}
	}
}

// Nothing of a kind that asks others is on by itself, and what is on by itself can
// be turned off, but hold.
func TestGatesInForce(t *testing.T) {
	w := newWorld(t)
	types := func() string {
		var list []string
		for _, g := range mustLoad(t, w).GatesInForce() {
			list = append(list, g.Type.V)
		}
		return strings.Join(list, " ")
	}
	wantLine(t, types(), "hold trust already_handled capacity breaker")
	w.write(t, user, `gate = [
{type = "http", url = "http://a/"}, {type = "systemd", units = ["a"]}, {type = "docker", name = "a", enabled = false},
{type = "breaker", enabled = false}, {type = "systemd", units = ["b"]}, {type = "podman", enabled = false}]`)
	wantLine(t, types(), "hold trust already_handled capacity systemd systemd http")
	gates := mustLoad(t, w).GatesInForce()
	wantLine(t, fmt.Sprint(gates[4].Units.V, gates[5].Units.V), "[a] [b]")
	wantLine(t, gates[4].OnError.V.String()+" "+gates[6].OnError.V.String(), "open closed-for 10m")
	if gates[0].Timeout.V != 5*time.Second {
		t.Error(gates[0].Timeout)
	}
}

// A hook's host is written, or that of the one forge of its type, or what everybody
// means by its type, or for each payload to say. The ref grammar knows it.
func TestHostsOfHooks(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, `
forge = [{host = "ghe.example.org", type = "github"}, {host = "a.example.org", type = "gitea"}, {host = "b.example.org", type = "gitea"}]
hook = [
{name = "1", forge = "github", unsigned = true},
{name = "2", forge = "gitlab", unsigned = true},
{name = "3", forge = "gitea", host = "B.example.org:443", unsigned = true},
{name = "4", forge = "gitea", host = "c.example.org", unsigned = true},
{name = "5", forge = "forgejo", unsigned = true},
]`)
	c := mustLoad(t, w)
	var hosts []string
	for _, h := range c.Hooks {
		hosts = append(hosts, h.Host.V)
	}
	wantLine(t, strings.Join(hosts, " "), "ghe.example.org gitlab.com b.example.org c.example.org ")
	wantLine(t, c.Grammar(nil).Hosts["c.example.org"], "gitea")
}

func TestPairs(t *testing.T) {
	for s, want := range map[string]string{"30s-30m": "30s-30m", "1d-1d": "1d-1d", "30m-30s": "", "30s": "", "0s-1m": "", "-": "", "1s-2s-3s": "", "a-b": ""} {
		r, err := ParseRange(s)
		if got := r.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q = %s, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{"20/24h": "20/24h", "1/1d": "1/24h", "3/7d": "3/7d", "20": "", "0/1h": "", "2/0s": "", "-1/1h": "", "+1/1h": "", "1/2/3": "", "/": ""} {
		r, err := ParseRate(s)
		if got := r.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q = %s, %v", s, got, err)
		}
	}
}
