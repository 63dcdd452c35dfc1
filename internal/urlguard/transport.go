package urlguard

import (
	"context"
	"net"
	"net/http"
	"time"
)

// idleTime is how long a connection is kept for the next request.
const idleTime = 90 * time.Second

// Transport makes requests of any kind to public addresses only, and follows no
// redirects. It keeps connections for later requests to the same host: every one
// of them was judged when it was made. What a request may cost is for its context
// to bound. Ask Check first for the refusals that need no network.
func (g *Guard) Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // never, whatever the environment says
		DialContext:            func(ctx context.Context, _, hostport string) (net.Conn, error) { return g.dial(ctx, hostport) },
		TLSClientConfig:        g.tlsConfig,
		TLSHandshakeTimeout:    handshakeTimeout,
		IdleConnTimeout:        idleTime,
		MaxIdleConnsPerHost:    4,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}
