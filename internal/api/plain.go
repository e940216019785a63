package api

import (
	"io"
	"net/http"
	"os"

	"github.com/oneslot/oneslot/internal/wire"
)

// plainRoutes are what programs ask that look after servers.
func (s *server) plainRoutes() []route {
	text := "text/plain; charset=utf-8"
	all := []route{
		do("GET", "/api/v1/server", Read, "With whom does one speak, and as whom?", about),
		{method: "GET", path: "/api/v1/openapi.json", need: None, summary: "This document", serve: (*call).document, media: "application/json"},
		{method: "GET", path: "/healthz", need: None, summary: "Does the server live?", media: text, serve: healthy},
		{method: "GET", path: "/readyz", need: None, summary: "Can the server do its work?", media: text, serve: ready},
	}
	if s.Metrics != nil {
		all = append(all, route{method: "GET", path: "/metrics", need: Read, summary: "Metrics, as Prometheus reads them", media: text,
			serve: func(c *call) error { s.Metrics.ServeHTTP(c.w, c.r); return nil }})
	}
	return all
}

func about(c *call, _ none) (wire.Server, error) {
	return wire.Server{Version: c.Version, Store: c.Claims.Address(), PID: os.Getpid(), Role: c.who.role.String(), Near: c.who.near}, nil
}

func healthy(c *call) error { return c.plain(http.StatusOK, "ok") }

// ready says why not only to the log: whoever may ask need not be told.
func ready(c *call) error {
	if c.Ready != nil {
		if err := c.Ready(c.ctx()); err != nil {
			c.Log.Warn("not ready", "err", err)
			return c.plain(http.StatusServiceUnavailable, "not ready")
		}
	}
	return c.plain(http.StatusOK, "ready")
}

func (c *call) plain(status int, text string) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(status)
	_, _ = io.WriteString(c.w, text+"\n")
	return nil
}
