// Package oauth gives agents' clients tokens with the owner's consent. It is an authorization server
// of OAuth 2.1 as the Model Context Protocol requires it, for public clients with PKCE.
//
// A client reads the metadata, registers itself or names a document that describes it, and sends its
// user to a page of the console. There the owner chooses the client's rights, and the client gets a
// code, which it exchanges for a secret. A grant is a token of the API: the secret ends after an hour
// and is renewed with a refresh token until the token expires or is revoked.
package oauth

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/callers"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/store"
	"bridged/internal/urlguard"
)

const (
	codeLife   = time.Minute // for which a code can be exchanged
	secretLife = time.Hour   // for which a secret is valid
)

// AuthorizePath is the path of the page that asks the owner for consent.
const AuthorizePath = "/console/authorize"

// The paths of the endpoints, without the base path.
const (
	registerPath = "/oauth/register"
	tokenPath    = "/oauth/token"
	revokePath   = "/oauth/revoke"

	serverMetadata   = "/.well-known/oauth-authorization-server"
	resourceMetadata = "/.well-known/oauth-protected-resource"
)

// Options configures [New].
type Options struct {
	Store    *store.Store
	Tokens   *callers.Tokens // has the secrets of tokens
	Operator *client.Client  // calls the API with BRIDGE_TOKEN, which may revoke every token
	// Fetch requests a document from an address that is public, like [urlguard.Guard.Fetch].
	Fetch func(ctx context.Context, url string, maxBytes int64, w io.Writer) (urlguard.Result, error)
	// Public has the addresses of the bridge, with https or on this machine, and with the base path.
	Public   []*url.URL
	BasePath string
	Path     string // of the endpoint that access is granted for
	Send     bool   // whether agents may send
	Log      zerolog.Logger
	Now      func() time.Time // nil is the real clock
}

// Server grants access. It is safe for concurrent use.
type Server struct {
	Options
	exchanges     sync.Mutex // held while a code or a refresh token is exchanged
	registrations front.NetworkLimiter
	documents     documents
	routes        map[string]route
}

type route struct {
	method string
	handle func(w http.ResponseWriter, r *http.Request) error
}

// New returns a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{Options: o, registrations: front.NetworkLimiter{Most: 10, Every: time.Minute}}
	s.routes = map[string]route{
		registerPath: {http.MethodPost, s.register},
		tokenPath:    {http.MethodPost, s.token},
		revokePath:   {http.MethodPost, s.revoke},
	}
	// A proxy passes the paths on with the base path, which is at their end, or without.
	for _, base := range []string{"", o.BasePath} {
		s.routes[serverMetadata+base] = route{http.MethodGet, s.describeServer}
		s.routes[resourceMetadata+base] = route{http.MethodGet, s.describeResource}
		s.routes[resourceMetadata+base+o.Path] = route{http.MethodGet, s.describeResource}
	}
	return s
}

// Serves reports whether a path belongs to an endpoint of the server.
func (s *Server) Serves(path string) bool {
	_, served := s.routes[path]
	return served
}

// Paths returns the paths of the endpoints.
func (s *Server) Paths() (paths []string) {
	for path := range s.routes {
		paths = append(paths, path)
	}
	return paths
}

// Handler serves the endpoints. All of them are for clients without a token.
func (s *Server) Handler() http.Handler {
	return front.Observe(http.HandlerFunc(s.serve), s.Log, logAccess, s.fail)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	front.SecureHeader(w.Header())
	front.RefuseBody(w, r)
	if r.ContentLength < 0 {
		w.Header().Set("Connection", "close") // the server cannot find the end of an unread chunked body
	}
	called := s.routes[r.URL.Path]
	err := error(&Error{Status: http.StatusMethodNotAllowed, Code: "invalid_request", Description: "this address takes " + called.method + " only"})
	if r.Method == called.method || r.Method == http.MethodHead && called.method == http.MethodGet {
		err = called.handle(w, r)
	} else {
		w.Header().Set("Allow", called.method)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// logAccess logs refusals, and other requests for debugging.
func logAccess(r *http.Request, status, size int, took time.Duration) {
	line := hlog.FromRequest(r).Debug()
	if status >= http.StatusBadRequest || r.Method == http.MethodPost {
		line = hlog.FromRequest(r).Info()
	}
	front.Accessed(line, r, status, size, took).Msg("oauth")
}

// address returns the public address that a request was sent to, or the first one if its Host names
// none of them.
func (s *Server) address(host string) string {
	i := slices.IndexFunc(s.Public, func(u *url.URL) bool { return strings.EqualFold(u.Host, host) })
	return s.Public[max(i, 0)].String()
}

// resource returns the address that access is granted for.
func (s *Server) resource(host string) string { return s.address(host) + s.Path }

// isResource reports whether a client means the resource. Clients differ in the case of hosts, ports
// that are the default, and slashes at the end.
func isResource(given, resource string) bool {
	a, err := url.Parse(given)
	b, _ := url.Parse(resource) // one of our own
	return err == nil && a.User == nil && a.RawQuery == "" && a.Fragment == "" && strings.EqualFold(a.Scheme, b.Scheme) &&
		strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b) && strings.TrimRight(a.Path, "/") == strings.TrimRight(b.Path, "/")
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}

// Run removes grants whose code was not exchanged in time, until ctx ends.
func (s *Server) Run(ctx context.Context) {
	for bridge.Sleep(ctx, codeLife) {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn().Err(err).Msg("cannot remove access that no client has fetched; trying again in a minute")
		}
	}
}

func (s *Server) sweep(ctx context.Context) error {
	s.exchanges.Lock()
	defer s.exchanges.Unlock()
	lapsed, err := s.Store.LapsedOAuthGrants(ctx, bridge.At(s.Now()))
	for _, token := range lapsed {
		if err == nil {
			err = s.end(ctx, token)
		}
	}
	return err
}

// end revokes the token of a grant. It succeeds if there is no such token.
func (s *Server) end(ctx context.Context, token int64) error {
	err := s.Operator.RevokeToken(context.WithoutCancel(ctx), token)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return nil
	}
	return err
}

// hashOf returns the hash under which a secret is stored.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
