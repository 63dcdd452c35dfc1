package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

const (
	// idleTimeout is how long a session of a client that is gone stays.
	idleTimeout = time.Hour
	// maxBody is the size of the largest call, in bytes: a file in base64.
	maxBody = 8 << 20
)

// Path is where agents find the door over HTTP.
const Path = "/mcp"

// Gate is what the program's server wants of a request that carries a token.
type Gate func(*http.Request) error

// Handler serves the protocol over HTTP ("streamable HTTP"). Every request
// carries a token; a session belongs to the token that began it. Streams end
// with stopping.
func (s *Server) Handler(stopping context.Context, gate Gate) http.Handler {
	sessions := sdk.NewStreamableHTTPHandler(s.begin, &sdk.StreamableHTTPOptions{
		SessionTimeout: idleTimeout, MaxRequestBodyBytes: maxBody,
		// A reverse proxy on this machine passes its own name on. A page that made
		// its name lead here would have no token.
		DisableLocalhostProtection: true,
	})
	authenticated := auth.RequireBearerToken(s.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(admitted(gate, sessions))
	return ending(stopping, sameOrigin(authenticated))
}

// callerKey is the key of the caller in the extra data of a token.
const callerKey = "caller"

// verify finds out who calls.
func (s *Server) verify(ctx context.Context, secret string, _ *http.Request) (*auth.TokenInfo, error) {
	c, err := s.caller(ctx, secret)
	switch {
	case bridge.CodeOf(err) == bridge.CodeUnauthorized:
		return nil, auth.ErrInvalidToken
	case err != nil:
		return nil, errors.New(sentence(err))
	}
	info := &auth.TokenInfo{UserID: c.id, Extra: map[string]any{callerKey: c}}
	if c.token.ExpiresAt != nil {
		info.Expiration = c.token.ExpiresAt.Time
	}
	return info, nil
}

// begin returns the server of a new session.
func (s *Server) begin(r *http.Request) *sdk.Server {
	info := auth.TokenInfoFromContext(r.Context())
	if info == nil {
		return nil // not authenticated: the SDK answers 400
	}
	return info.Extra[callerKey].(*caller).session()
}

// admitted refuses what the program's server has no place for.
func admitted(gate Gate, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := gate(r); err != nil {
			http.Error(w, sentence(err), http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses requests that pages of other sites make. Agents send no
// Origin.
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			if at, err := url.Parse(origin); err != nil || at.Host != r.Host {
				http.Error(w, "this door is not open to pages of other sites", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// ending ends requests when the program stops.
func ending(stopping context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
