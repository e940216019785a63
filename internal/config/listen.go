package config

import (
	"errors"
	"net"
	"strconv"
	"strings"
)

// listener is where the daemon serves.
func listener() kind[string] {
	return kind[string]{aText, "an address in quotes", func(g given) (string, error) {
		if strings.HasPrefix(g.text, "unix:") {
			return parseServer("unix", g.text, g.dir)
		}
		host, port, err := net.SplitHostPort(g.text)
		if err != nil || checkName(g.text) != nil || strings.ContainsAny(host, "/@ ") {
			what := "that"
			if !strings.Contains(g.text, "@") { // else it may hold a password
				what = strconv.Quote(g.text)
			}
			return "", errors.New(what + ` is no address such as 127.0.0.1:7180, [::1]:7180 or unix:/run/oneslot.sock`)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
			return "", errors.New("the port must be a number from 0 to 65535")
		}
		return g.text, nil
	}}
}

// Local reports whether only processes of this host can connect to where the
// daemon listens. A name other than localhost counts as reachable from elsewhere.
func (c *Config) Local() bool {
	if strings.HasPrefix(c.Listen.V, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(c.Listen.V)
	return err == nil && loopbackHost(host)
}
