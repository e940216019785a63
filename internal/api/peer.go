package api

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
)

type peerKey struct{}

// peer is who is at the other end of a unix socket.
type peer struct {
	uid   int
	known bool // the kernel said so
}

func (p peer) String() string {
	if !p.known {
		return "somebody on the unix socket"
	}
	return "uid " + strconv.Itoa(p.uid)
}

// ConnContext notes who is at the other end; it is for http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if c.LocalAddr().Network() != "unix" {
		return ctx
	}
	p := peer{uid: -1}
	if u, ok := c.(*net.UnixConn); ok {
		if raw, err := u.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { p.uid, p.known = peerUID(int(fd)) })
		}
	}
	return context.WithValue(ctx, peerKey{}, p)
}

func peerOf(ctx context.Context) (peer, bool) {
	p, ok := ctx.Value(peerKey{}).(peer)
	return p, ok
}
