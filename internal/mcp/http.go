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
	// sessionless is the first version of the protocol without sessions: each
	// request says by itself who calls and what they can do (SEP-2575).
	sessionless = "2026-07-28"
)

// Path is where agents find the door over HTTP.
const Path = "/mcp"

// HTTP holds the services of the program's server for a door beside its router.
type HTTP struct {
	// Stopping ends when the program stops, and streams with it.
	Stopping context.Context
	// Unwanted leaves little time to a body that is not read.
	Unwanted func(http.ResponseWriter, *http.Request)
	// Admit takes note of a request with a token, and refuses it where the server
	// has no place for it.
	Admit func(*http.Request) error
	// Body reads a body that is as large as the API's may be. It takes its memory
	// until done, which may be called more than once.
	Body func(http.ResponseWriter, *http.Request) (body []byte, done func(), err error)
}

// Handler serves the protocol over HTTP ("streamable HTTP"), in all its
// versions: those with sessions, which belong to the token that began them, and
// that without. Every request carries a token.
func (s *Server) Handler(server HTTP) http.Handler {
	// A reverse proxy on this machine passes its own name on, which the SDK would refuse.
	// A page of another site has no token.
	sessions := sdk.NewStreamableHTTPHandler(begin, &sdk.StreamableHTTPOptions{SessionTimeout: idleTimeout, DisableLocalhostProtection: true})
	single := sdk.NewStreamableHTTPHandler(begin, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	byVersion := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= sessionless {
			single.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	authenticated := auth.RequireBearerToken(s.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	return ending(server.Stopping, private(server, sameOrigin(authenticated(admitted(server, byVersion)))))
}

// The keys of the extra data of a token, which each request has for itself.
const (
	callerKey = "caller"
	bodyKey   = "body" // gives back the memory that the body takes
)

// verify returns the caller that a token names.
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

// callerOf returns the caller of a request over HTTP, nil of any other.
func callerOf(extra *sdk.RequestExtra) *caller {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	c, _ := extra.TokenInfo.Extra[callerKey].(*caller)
	return c
}

// begin returns the server of a request.
func begin(r *http.Request) *sdk.Server {
	info := auth.TokenInfoFromContext(r.Context())
	if info == nil {
		return nil // not authenticated: the SDK answers 400
	}
	c := info.Extra[callerKey].(*caller)
	return c.s.server(c.rights())
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
