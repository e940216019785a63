package config

import (
	"errors"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	work := func() (string, error) { return "/srv dir", nil }
	good := map[string]string{
		"sqlite:/var/lib/o.db":        "sqlite:/var/lib/o.db",
		"SQLite:/var/lib/o.db":        "sqlite:/var/lib/o.db",
		"sqlite:///var/lib/o.db":      "sqlite:/var/lib/o.db",
		"sqlite:o.db":                 "sqlite:/srv dir/o.db",
		"sqlite:state/../o":           "sqlite:/srv dir/o",
		"sqlite:../o.db":              "sqlite:/o.db",
		"sqlite:100%#1;-- $(x)":       "sqlite:/srv dir/100%#1;-- $(x)",
		"/var/lib/claims":             "sqlite:/var/lib/claims",
		"./claims":                    "sqlite:/srv dir/claims",
		"../claims":                   "sqlite:/claims",
		"o.db":                        "sqlite:/srv dir/o.db",
		"./postgres:x":                "sqlite:/srv dir/postgres:x",
		"unix:/run/oneslot.sock":      "unix:/run/oneslot.sock",
		"unix:///run/../s":            "unix:/s",
		"UNIX:s":                      "unix:/srv dir/s",
		"https://Broker.Example.org/": "https://broker.example.org",
		"https://h:8443/one/slot/":    "https://h:8443/one/slot",
		"HTTP://localhost:7180":       "http://localhost:7180",
		"http://127.0.0.2:1":          "http://127.0.0.2:1",
		"http://[::1]:7180":           "http://[::1]:7180",
		"sqlite:redis://x/oneslot":    "sqlite:/srv dir/redis:/x/oneslot",
	}
	for s, want := range good {
		if got, err := parseAddress(s, work); err != nil || got != want {
			t.Errorf("%q = %q, %v; want %q", s, got, err, want)
		}
	}

	bad := map[string]string{
		"":                                  "empty",
		"sqlite:":                           "needs the path",
		"sqlite::memory:":                   "exclude nobody",
		"sqlite:~/o.db":                     `"~" is not expanded`,
		"~/o.db":                            `"~" is not expanded`,
		"sqlite:/o.db?mode=memory":          "no options",
		"sqlite://host/o.db":                "no host",
		"/var/lib/":                         "a folder's",
		"sqlite:..":                         "a folder's",
		"sqlite:/a\nb.db":                   "control characters",
		"sqlite:/a\x00b.db":                 "control characters",
		"claims":                            "not an address",
		"sqlit:/o.db":                       `did you mean "sqlite:"`,
		"postgress://u:canary@h/o":          `did you mean "postgres:"`,
		"postgres://u:canary@h/o":           "postgres addresses are not in this version",
		"postgresql://u:canary@h/o":         "postgresql addresses are not in this version",
		"REDIS://:canary@h:6379/0":          "redis addresses are not in this version",
		"rediss://:canary@h:6379/0":         "rediss addresses are not in this version",
		"git:ssh://u:canary@h/o.git":        "git addresses are not in this version",
		"unix:":                             "needs the path",
		"unix:~/s":                          `"~" is not expanded`,
		"unix:/run/s/":                      "needs the path",
		"unix:/" + strings.Repeat("x", 103): "too long",
		"http://u:canary@localhost":         "no place in an address",
		"https://u:canary@h":                "no place in an address",
		"http://canary.example.org":         "loopback only",
		"http://127.0.0.1.canary.io":        "loopback only",
		"http://10.0.0.1:7180":              "loopback only",
		"https://":                          "not the address of a server",
		"https://h?canary":                  "no options",
		"https://h#canary":                  "no options",
		"https:h":                           "not the address of a server",
		"htps://canary":                     `did you mean "https:"`,
		"mysql://u:canary@h/o":              "that is no kind of store; there are sqlite:PATH",
		"canary:canary@h/o.db":              "that is no kind of store; there are sqlite:PATH",
		"mysql:canary":                      `"mysql:" is no kind of store`,
		"canary@h":                          "not an address",
	}
	for s, want := range bad {
		got, err := parseAddress(s, work)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q = %q, %v; want it refused with %q", s, got, err, want)
			continue
		}
		// C61
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: the message shows a secret: %v", s, err)
		}
	}

	gone := errors.New("the folder is gone")
	lost := func() (string, error) { return "", gone }
	if _, err := parseAddress("o.db", lost); !errors.Is(err, gone) {
		t.Errorf("without a working folder a relative path gives %v", err)
	}
	if _, err := parseAddress("/o.db", lost); err != nil {
		t.Errorf("an absolute path needs no working folder, but: %v", err)
	}
}

func TestNearest(t *testing.T) {
	rows := names("store", "claims", "host", "on", "waiting_max")
	for word, want := range map[string]string{
		"store": "store", "sotre": "store", "stor": "store", "storee": "store", "str": "", "st": "",
		"clams": "claims", "hst": "host", "Host": "host", "no": "on", "an": "on", "xy": "", "x": "", "": "",
		"waitingMax": "waiting_max", strings.Repeat("store", 1000): "",
	} {
		if got := nearest(word, rows); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
}
