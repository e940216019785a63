package config

import (
	"fmt"
	"strings"
	"testing"
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

// What is on by itself can be turned off, but hold. Of what asks others that is only
// what reads from a forge, and it is asked after all that is here.
func TestGatesInForce(t *testing.T) {
	w := newWorld(t)
	types := func() string {
		var list []string
		for _, g := range mustLoad(t, w).GatesInForce() {
			list = append(list, g.Type.V)
		}
		return strings.Join(list, " ")
	}
	wantLine(t, types(), "hold trust already_handled capacity breaker closed draft head_moved open_pr still_failing landed")
	w.write(t, user, `gate = [
{type = "http", url = "http://a/"}, {type = "systemd", units = ["a"]}, {type = "docker", name = "a", enabled = false},
{type = "breaker", enabled = false}, {type = "landed", enabled = false}, {type = "label", labels = ["x"]}, {type = "comment"}, {type = "assignee"}, {type = "systemd", units = ["b"]}, {type = "podman", enabled = false}]`)
	wantLine(t, types(), "hold trust already_handled capacity systemd systemd "+
		"closed draft head_moved label assignee open_pr still_failing comment http")
	gates := mustLoad(t, w).GatesInForce()
	wantLine(t, fmt.Sprint(gates[4].Units.V, gates[5].Units.V), "[a] [b]")
	for i, want := range map[int]string{0: "closed 5s 10s ", 1: "open 5s 10s ", 4: "open 5s 10s ", 6: "closed-for 10m 15s 1m0s ", 9: "closed-for 10m 15s 1m0s ",
		11: "closed-for 10m 15s 1m0s skip", 14: "closed-for 10m 5s 10s "} {
		g := gates[i]
		wantLine(t, fmt.Sprint(g.OnError.V, " ", g.Timeout.V, " ", g.Every.V, " ", g.Then.V), want)
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
	for s, want := range map[string]string{"30s-30m": "30s-30m", "1d-1d": "24h-24h", "30m-30s": "", "30s": "", "0s-1m": "", "-": "", "1s-2s-3s": "", "a-b": ""} {
		r, err := parseRange(s)
		if got := r.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q = %s, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{"20/24h": "20/24h", "1/1d": "1/24h", "3/7d": "3/7d", "20": "", "0/1h": "", "2/0s": "", "-1/1h": "", "+1/1h": "", "1/2/3": "", "/": ""} {
		r, err := parseRate(s)
		if got := r.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q = %s, %v", s, got, err)
		}
	}
}
