package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/callers"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// observe gives requests an id and a logger, writes the access log, and answers panics.
func (s *server) observe(next http.Handler) http.Handler {
	return front.Observe(next, s.Log, func(r *http.Request, status, size int, took time.Duration) {
		front.Accessed(front.AccessLine(r, status), r, status, size, took).Msg("request")
		s.metrics.Observe(r, status, took)
	}, s.fail)
}

// authenticate refuses unauthenticated requests for protected paths, and puts callers into the context.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := s.admit(w, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if caller != nil {
			ctx, release := caller.During(r.Context())
			defer release()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// admit returns the caller of a request, or nil if it needs none and has none.
func (s *server) admit(w http.ResponseWriter, r *http.Request) (*callers.Caller, error) {
	caller, err := s.tokens.OfRequest(r)
	switch {
	case caller == nil && r.ContentLength != 0:
		w.Header().Set("Connection", "close")
		front.RefuseBody(w, r)
	case r.ContentLength < 0:
		w.Header().Set("Connection", "close") // see conn.Read
	}
	isHook := callers.IsHook(r)
	switch {
	case err != nil && (isHook || protected(r.URL.Path)):
		return nil, err
	case caller == nil && isHook:
		return nil, errNoRoute()
	case !protected(r.URL.Path):
		return caller, nil
	case caller == nil:
		return nil, errNoBearer()
	}
	if caller.ID != 0 {
		log := hlog.FromRequest(r)
		log.UpdateContext(func(c zerolog.Context) zerolog.Context { return c.Int64("token", caller.ID) })
		s.tokens.NoteUse(r.Context(), caller, log)
	}
	return caller, nil
}

func errNoBearer() error {
	return bridge.Fail(bridge.CodeUnauthorized, "the header Authorization: Bearer <BRIDGE_TOKEN> is missing or its token is wrong")
}

// sendGate refuses to send while ENABLE_SEND is false.
func (s *server) sendGate() error {
	if s.EnableSend {
		return nil
	}
	return bridge.Fail(bridge.CodeSendDisabled, "sending is switched off; start the service with ENABLE_SEND=true")
}

// historyGate refuses requests for history while HISTORY_IMPORT is off.
func (s *server) historyGate() error {
	if s.HistoryImport.IsOn() {
		return nil
	}
	return bridge.Fail(bridge.CodeHistoryDisabled,
		"importing history is switched off; start the service with HISTORY_IMPORT=recent, HISTORY_IMPORT=full or a span such as HISTORY_IMPORT=1y")
}

func unknownRoute(*input) (any, error) {
	return nil, errNoRoute()
}

func errNoRoute() error { return bridge.NotFound("there is no such route; see /openapi.yaml") }

// wrongMethod answers 405. chi also calls it for unknown methods on unknown paths.
func wrongMethod(routes chi.Routes) handler {
	return func(in *input) (any, error) {
		allowed := front.MethodsOf(routes, in.r)
		if len(allowed) == 0 {
			return nil, errNoRoute()
		}
		in.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return nil, bridge.Fail(bridge.CodeMethodNotAllowed, "this route allows %s", strings.Join(allowed, ", "))
	}
}
