// Package waha is the door for WAHA's clients: n8n's nodes, Uptime Kuma, Peekaping, Home
// Assistant, scripts. It answers as WAHA 2026.7 with its GOWS engine does, for one
// session, "default".
package waha

import (
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix is where the door is served.
const Prefix = "/waha"

// session is the name of the only session.
const session = "default"

// version is that of WAHA whose answers these are.
const version = "2026.7.1"

type door struct{ *compat.Door }

// New returns the door.
func New(o compat.Options) http.Handler {
	d := door{compat.NewDoor(o, peer{})}
	mux := http.NewServeMux() // chi would take the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", d.Refuse(noRoute))
	mux.HandleFunc("GET /ping", d.Open(map[string]string{"message": "pong"}))
	mux.HandleFunc("GET /api/version", d.Handle(showVersion))
	mux.HandleFunc("GET /api/server/version", d.Handle(showVersion))
	mux.HandleFunc("GET /api/sessions", d.Handle(listSessions))
	mux.HandleFunc("GET /api/sessions/{session}", d.Handle(showSession))
	mux.HandleFunc("GET /api/sessions/{session}/me", d.Handle(showMe))
	mux.HandleFunc("POST /api/sendText", d.Handle(sendText))
	mux.HandleFunc("GET /api/sendText", d.Handle(sendTextByAddress))
	return mux
}

// peer is WAHA as its clients know it.
type peer struct{}

// Key returns the header X-Api-Key, or a bearer.
func (peer) Key(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// The codes of errors that WAHA has a form of its own for.
const (
	codeNoRoute   bridge.Code = "waha_no_route"
	codeNoSession bridge.Code = "waha_no_session"
)

func noRoute(r *http.Request) error {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return bridge.NotFound("Cannot %s %s", r.Method, bridge.Beginning(r.URL.Path, 100))
	}
	return bridge.Fail(codeNoRoute, "bridged does not do this: there is no %s %s behind its WAHA door", r.Method, bridge.Beginning(r.URL.Path, 100))
}

// statuses has the status of each error that is not 400.
var statuses = map[bridge.Code]int{
	bridge.CodeUnauthorized: http.StatusUnauthorized, bridge.CodeForbidden: http.StatusForbidden, bridge.CodeSendDisabled: http.StatusForbidden,
	bridge.CodeNotFound: http.StatusNotFound, codeNoRoute: http.StatusNotImplemented, bridge.CodePayloadTooLarge: http.StatusRequestEntityTooLarge,
	bridge.CodeRateLimited: http.StatusTooManyRequests, bridge.CodeInternal: http.StatusInternalServerError, bridge.CodeSendTimeout: http.StatusGatewayTimeout,
	bridge.CodeRequestInProgress: http.StatusConflict, bridge.CodeIdempotencyMismatch: http.StatusUnprocessableEntity,
	bridge.CodeTooManyConnections: http.StatusServiceUnavailable,
}

// Refusal returns WAHA's answer for an error. Some clients read message, which must be a
// text, others the whole body.
func (peer) Refusal(r *http.Request, c *compat.Call, err *bridge.Error) (int, any) {
	switch err.Code {
	case bridge.CodeUnauthorized:
		return http.StatusUnauthorized, map[string]any{"message": "Unauthorized", "statusCode": http.StatusUnauthorized}
	case codeNoSession:
		return http.StatusUnprocessableEntity, map[string]any{"error": err.Msg, "session": sessionOf(r)}
	case bridge.CodeNotConnected:
		return http.StatusUnprocessableEntity, map[string]any{
			"error": "Session status is not as expected. Try again later or restart the session", "session": session, "status": presentState(c),
			"expected": []string{"WORKING"}, "message": err.Msg,
		}
	}
	status, known := statuses[err.Code]
	if !known {
		status = http.StatusBadRequest
	}
	return status, map[string]any{"statusCode": status, "message": err.Msg, "error": http.StatusText(status)}
}
