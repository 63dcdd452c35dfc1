package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// statuses is the only place that knows which HTTP status a code has.
var statuses = map[bridge.Code]int{
	bridge.CodeInvalid:             http.StatusBadRequest,
	bridge.CodeFetchFailed:         http.StatusBadRequest,
	bridge.CodeUnsupportedMedia:    http.StatusBadRequest,
	bridge.CodeNotOnNetwork:        http.StatusBadRequest,
	bridge.CodeNotInGroup:          http.StatusBadRequest,
	bridge.CodeUnauthorized:        http.StatusUnauthorized,
	bridge.CodeSendDisabled:        http.StatusForbidden,
	bridge.CodeNotFound:            http.StatusNotFound,
	bridge.CodeMethodNotAllowed:    http.StatusMethodNotAllowed,
	bridge.CodeAlreadyPaired:       http.StatusConflict,
	bridge.CodeOtherAccount:        http.StatusConflict,
	bridge.CodeNoSession:           http.StatusConflict,
	bridge.CodeRequestInProgress:   http.StatusConflict,
	bridge.CodePreconditionFailed:  http.StatusPreconditionFailed,
	bridge.CodePayloadTooLarge:     http.StatusRequestEntityTooLarge,
	bridge.CodeInvalidRange:        http.StatusRequestedRangeNotSatisfiable,
	bridge.CodeIdempotencyMismatch: http.StatusUnprocessableEntity,
	bridge.CodeRateLimited:         http.StatusTooManyRequests,
	bridge.CodeReachoutRestricted:  http.StatusTooManyRequests,
	bridge.CodeInternal:            http.StatusInternalServerError,
	bridge.CodeMediaGone:           http.StatusInternalServerError,
	bridge.CodeMediaTooLarge:       http.StatusInternalServerError,
	bridge.CodeMediaInvalid:        http.StatusInternalServerError,
	bridge.CodeSendRefused:         http.StatusBadGateway,
	bridge.CodeMediaUnavailable:    http.StatusServiceUnavailable,
	bridge.CodeNotConnected:        http.StatusServiceUnavailable,
	bridge.CodeStorageUnavailable:  http.StatusServiceUnavailable,
	bridge.CodeTooManyConnections:  http.StatusServiceUnavailable,
	bridge.CodeSendTimeout:         http.StatusGatewayTimeout,
}

// statusClientGone is what the access log shows for a caller that hung up. No
// caller ever sees it.
const statusClientGone = 499

// storeRetry is when to ask again of a store that cannot be written or read:
// it passes when somebody makes room, which takes a moment.
const storeRetry = 10 * time.Second

// handler is a request's story; the error that it returns is answered by fail.
type handler func(http.ResponseWriter, *http.Request) error

func (s *server) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// errorBody is the body of every error.
type errorBody struct {
	Error string      `json:"error"`
	Code  bridge.Code `json:"code"`
}

// fail is the only writer of error bodies and the only place where what went
// wrong is logged. Once an answer has begun it is left as it is.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if wentAway(r, err) {
		if !begun(w) {
			w.WriteHeader(statusClientGone)
		}
		return
	}
	e, status := public(err)
	logFailure(r, status, e.Code, err)
	if begun(w) {
		return
	}
	wait := e.RetryAfter
	if wait == 0 && e.Code == bridge.CodeStorageUnavailable {
		wait = storeRetry
	}
	if wait > 0 {
		w.Header().Set("Retry-After", retryAfter(wait))
	}
	s.write(w, r, status, errorBody{Error: e.Msg, Code: e.Code})
}

// public is what a caller may know of err, and its status.
func public(err error) (*bridge.Error, int) {
	var e *bridge.Error
	if errors.As(err, &e) {
		if status, known := statuses[e.Code]; known && e.Code != bridge.CodeInternal {
			return e, status
		}
	}
	return bridge.Fail(bridge.CodeInternal, "something went wrong inside the service; its log says what"),
		http.StatusInternalServerError
}

// logFailure notes what an operator should know: failures of the service with
// their cause, and of a caller's mistakes the code alone, in the access log's
// line. Their sentences may repeat what the caller sent.
func logFailure(r *http.Request, status int, code bridge.Code, err error) {
	log := hlog.FromRequest(r)
	log.UpdateContext(func(c zerolog.Context) zerolog.Context { return c.Str("code", string(code)) })
	if status < http.StatusInternalServerError {
		return
	}
	event := log.Warn()
	if status == http.StatusInternalServerError {
		event = log.Error()
	}
	event.Str("error", redact(err.Error())).Int("status", status).Msg("request failed")
}

// wentAway says whether err is only the caller's hanging up.
func wentAway(r *http.Request, err error) bool {
	return r.Context().Err() != nil && errors.Is(err, context.Canceled)
}

// begun says whether the answer's head is out. The access log's writer, which
// is around every handler, keeps count.
func begun(w http.ResponseWriter) bool {
	writer, ok := w.(interface{ Status() int })
	return ok && writer.Status() != 0
}

// retryAfter rounds up: a caller that comes back at the second named must not
// be too early.
func retryAfter(wait time.Duration) string {
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

// answer writes v as the 200 answer of r.
func (s *server) answer(w http.ResponseWriter, r *http.Request, v any) error {
	return s.write(w, r, http.StatusOK, v)
}

// write encodes before it begins, so that an encoding error can still be told.
// A caller that no longer reads is not an error.
func (s *server) write(w http.ResponseWriter, r *http.Request, status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	answerNow(w)
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		hlog.FromRequest(r).Debug().Err(err).Msg("answer not read")
	}
	return nil
}

// encode writes v as one line of JSON. <, > and & stand as they are: no browser
// takes what is application/json and nosniff for a page.
func encode(v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return line.Bytes(), err
}
