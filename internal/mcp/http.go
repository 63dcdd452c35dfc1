package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

const (
	// idleTimeout ends the session of a client that is gone.
	idleTimeout = time.Hour
	// sessionless is the first version of the protocol without sessions: each
	// request names its caller and its capabilities (SEP-2575).
	sessionless = "2026-07-28"
)

// Path is the path of the endpoint.
const Path = "/mcp"

// Handler serves the protocol over HTTP ("streamable HTTP"), in all its versions, with and without
// sessions. A session belongs to the token that started it. Every request carries a token. The end
// of stopping ends streams.
func (s *Server) Handler(stopping context.Context) http.Handler {
	// The SDK's protection would refuse the host name that a reverse proxy on this machine passes
	// on. It is not needed, since pages of other sites have no token.
	sessions := sdk.NewStreamableHTTPHandler(serverFor, &sdk.StreamableHTTPOptions{SessionTimeout: idleTimeout, DisableLocalhostProtection: true})
	single := sdk.NewStreamableHTTPHandler(serverFor, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	byVersion := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= sessionless {
			single.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	return front.Observe(s.guarded(stopping, s.authenticated(s.checked(byVersion))), s.options.Log, logAccess, func(w http.ResponseWriter, r *http.Request, err error) {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("agent")
		refuse(w, err)
	})
}

// logAccess logs refused tokens as warnings, and other requests for debugging, because calls of tools
// have lines of their own.
func logAccess(r *http.Request, status, size int, took time.Duration) {
	line := hlog.FromRequest(r).Debug()
	if status == http.StatusUnauthorized {
		line = front.AccessLine(r, status)
	}
	front.Accessed(line, r, status, size, took).Msg("agent")
}

// The keys of the extra data that each request has in its TokenInfo.
const (
	callerKey = "caller"
	bodyKey   = "body"   // a function that releases the memory of the body
	memoryKey = "memory" // the *front.Memory
)

// authenticated refuses requests without a valid token. Only the SDK's middleware can pass a caller on
// to the SDK, and it answers with plain text, so it gets callers that are known already.
func (s *Server) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret, _ := bridge.Bearer(r.Header.Get("Authorization"))
		c, err := s.caller(r.Context(), secret)
		if bridge.CodeOf(err) == bridge.CodeUnauthorized {
			w.Header().Set("WWW-Authenticate", s.challenge(r))
			err = errNoBearer
		}
		if err != nil {
			refuse(w, err)
			return
		}
		known := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) { return c.info(), nil }
		auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next).ServeHTTP(w, r)
	})
}

// info describes the caller to the SDK.
func (c *caller) info() *auth.TokenInfo {
	info := &auth.TokenInfo{UserID: c.id, Extra: map[string]any{callerKey: c}}
	if c.token.ExpiresAt != nil {
		info.Expiration = c.token.ExpiresAt.Time
	}
	return info
}

// callerOf returns the caller of a request, or nil if it did not come over HTTP.
func callerOf(extra *sdk.RequestExtra) *caller {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	c, _ := extra.TokenInfo.Extra[callerKey].(*caller)
	return c
}

// serverFor returns the server for the caller of a request, or nil if it is not authenticated.
func serverFor(r *http.Request) *sdk.Server {
	info := auth.TokenInfoFromContext(r.Context())
	if info == nil {
		return nil // the SDK answers 400
	}
	c := info.Extra[callerKey].(*caller)
	return c.s.server(c.rights())
}

const (
	maxDepth = 32 // of nested values in one message
	// maxValues limits the values of one message. The SDK decodes parts of it into maps, so
	// a value of two bytes takes a hundred.
	maxValues = 2000
)

// checkMessage refuses a message with more values, or deeper nested ones, than any call has.
func checkMessage(body []byte) error {
	if begin := bytes.TrimLeft(body, " \t\r\n"); len(begin) > 0 && begin[0] == '[' {
		return bridge.Invalid("send one message at a time, without a list around it")
	}
	depth, values, inText, escaped := 0, 0, false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
			values++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
		if depth > maxDepth || values > maxValues {
			return bridge.Invalid("a message may have at most %d values, at most %d deep", maxValues, maxDepth)
		}
	}
	return nil
}

// checked reads the body of a POST and checks it before the SDK decodes it. The connection of a GET
// is counted as a stream.
func (s *Server) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if err := front.CountStream(r); err != nil {
				refuse(w, err)
				return
			}
		}
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		extra := auth.TokenInfoFromContext(r.Context()).Extra
		c := extra[callerKey].(*caller)
		body, done, err := s.bodies.ReadBody(w, r, c.tree)
		if err != nil {
			refuse(w, err)
			return
		}
		defer done()
		if err := checkMessage(body); err != nil {
			refuse(w, err)
			return
		}
		ours := w.(*privateWriter)
		ours.memory = s.answers.Answer(ours.ResponseWriter, c.tree, front.AnswerTimeout)
		defer ours.memory.Release()
		ours.last = r.ContentLength < 0
		extra[bodyKey], extra[memoryKey] = done, ours.memory
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// releaseBody releases the memory of a body that the SDK has decoded, because a call may take long.
func releaseBody(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
			if done, read := extra.TokenInfo.Extra[bodyKey].(func()); read {
				done()
			}
		}
		return next(ctx, method, req)
	}
}

// guarded cancels requests when the program stops, forbids caching, closes connections after bodies
// that were not read or arrived in chunks (see head.go in package front), and refuses requests from
// pages of other sites. Agents send no Origin.
func (s *Server) guarded(stopping context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		front.RefuseBody(w, r)
		ours := &privateWriter{ResponseWriter: w, last: r.ContentLength != 0}
		defer ours.end()
		w = ours
		if origin := r.Header.Get("Origin"); origin != "" {
			if at, err := url.Parse(origin); err != nil || at.Host != r.Host || !front.KnowsHost(s.options.Public, r.Host) {
				refuse(w, bridge.Fail(bridge.CodeForbidden, "pages of other sites may not call this endpoint"))
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// privateWriter replaces headers that the SDK sets, and its refusals in plain text by errors of the
// API.
type privateWriter struct {
	http.ResponseWriter
	memory  *front.Memory // nil for a stream
	last    bool          // the connection is closed after the answer
	begun   bool
	refused int // the status of a refusal in plain text, whose text is still to come
}

// WriteHeader begins the answer.
func (w *privateWriter) WriteHeader(status int) {
	if w.begun || w.refused != 0 {
		return
	}
	if kind := w.Header().Get("Content-Type"); status >= http.StatusBadRequest && (kind == "" || strings.HasPrefix(kind, "text/plain")) {
		w.refused = status
		return
	}
	w.begun = true
	header := w.Header()
	front.SecureHeader(header)
	header.Del("Connection")
	if w.last {
		header.Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer, with a new deadline for the caller to read it.
func (w *privateWriter) Write(p []byte) (int, error) {
	if w.refused != 0 {
		w.refuse(string(p))
		return len(p), nil
	}
	w.WriteHeader(http.StatusOK)
	if w.memory != nil {
		return w.memory.Write(p)
	}
	front.AnswerNow(w.ResponseWriter)
	return w.ResponseWriter.Write(p)
}

// refuse answers with the refusal of the SDK.
func (w *privateWriter) refuse(text string) {
	status := w.refused
	w.refused = 0
	refuseStatus(w, status, text)
}

// end answers with a refusal that has no text.
func (w *privateWriter) end() {
	if w.refused != 0 {
		w.refuse("")
	}
}

// Unwrap returns the wrapped writer, for [http.NewResponseController].
func (w *privateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
