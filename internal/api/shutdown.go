package api

import (
	"context"
	"net/http"
	"sync"
)

// shutdown tells streams when their http.Server is about to end, which waits for
// them: they would go on as long as somebody listens.
type shutdown struct {
	ctx     context.Context
	begin   context.CancelFunc
	servers sync.Map // that tell us
}

// of ends when the server of a request begins to shut down.
func (s *shutdown) of(r *http.Request) context.Context {
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		if _, known := s.servers.LoadOrStore(srv, true); !known {
			srv.RegisterOnShutdown(s.begin)
		}
	}
	return s.ctx
}
