// Package evolution is the door for clients of Evolution API v2: n8n's node, Uptime Kuma,
// Apprise, scripts. It answers as version 2.3 does, for one instance.
package evolution

import (
	"net/http"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix is where the door is served.
const Prefix = "/evolution"

// instance is the name of the only instance.
const instance = "bridged"

// version is that of Evolution API whose answers these are.
const version = "2.3.6"

type door struct{ *compat.Door }

// New returns the door.
func New(o compat.Options) http.Handler {
	d := door{compat.NewDoor(o, peer{})}
	mux := http.NewServeMux() // chi would take the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", d.Refuse(noRoute))
	mux.HandleFunc("GET /{$}", d.Open(map[string]any{"status": http.StatusOK, "message": "Welcome to the Evolution API, it is working!", "version": version, "clientName": instance}))
	mux.HandleFunc("GET /instance/fetchInstances", d.Handle(listInstances))
	mux.HandleFunc("POST /message/sendText/{instance}", d.of(sendText))
	return mux
}

// of returns the handler of a route of our instance.
func (d door) of(route func(*compat.Call) (compat.Answer, error)) http.HandlerFunc {
	return d.Handle(func(c *compat.Call) (compat.Answer, error) {
		if err := checkInstance(c.PathValue("instance")); err != nil {
			return compat.Answer{}, err
		}
		return route(c)
	})
}

// checkInstance refuses an instance other than ours.
func checkInstance(name string) error {
	if plain, err := url.PathUnescape(name); err == nil && plain == instance {
		return nil
	}
	return bridge.NotFound("The %q instance does not exist; it is %q here", bridge.Beginning(name, 100), instance)
}

// peer is Evolution API as its clients know it.
type peer struct{}

// Key returns the header apikey.
func (peer) Key(r *http.Request) string { return r.Header.Get("apikey") }

func noRoute(r *http.Request) error {
	return bridge.NotFound("Cannot %s %s: bridged does not do this", r.Method, bridge.Beginning(r.URL.Path, 100))
}

// statuses has the status of each error that is not 400.
var statuses = map[bridge.Code]int{
	bridge.CodeUnauthorized: http.StatusUnauthorized, bridge.CodeForbidden: http.StatusForbidden, bridge.CodeSendDisabled: http.StatusForbidden,
	bridge.CodeNotFound: http.StatusNotFound, bridge.CodePayloadTooLarge: http.StatusRequestEntityTooLarge, bridge.CodeRateLimited: http.StatusTooManyRequests,
	bridge.CodeInternal: http.StatusInternalServerError, bridge.CodeSendTimeout: http.StatusGatewayTimeout, bridge.CodeRequestInProgress: http.StatusConflict,
	bridge.CodeIdempotencyMismatch: http.StatusUnprocessableEntity, bridge.CodeTooManyConnections: http.StatusServiceUnavailable,
}

// Refusal returns Evolution's answer for an error. Clients print what is in message.
func (peer) Refusal(_ *http.Request, _ *compat.Call, err *bridge.Error) (int, any) {
	status, known := statuses[err.Code]
	if !known {
		status = http.StatusBadRequest
	}
	var message any = []string{err.Msg}
	switch err.Code {
	case bridge.CodeUnauthorized:
		message = "Unauthorized"
	case bridge.CodeNotConnected:
		message = []string{"Error: Connection Closed", err.Msg}
	}
	return status, map[string]any{"status": status, "error": http.StatusText(status), "response": map[string]any{"message": message}}
}
