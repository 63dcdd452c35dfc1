package compat

import (
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// Stream writes an answer in JSON that is too large to be held in memory.
type Stream func(io.Writer) error

// answer writes what a handler returned. It returns an error only if nothing was written.
func (a *Adapter) answer(w http.ResponseWriter, c *Call, status int, answer any) error {
	if c.Replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	switch answer := answer.(type) {
	case *List:
		return a.list(w, c, status, answer)
	case Stream:
		begin(w, status)
		closeUnfinished(c.Request, answer(deadlineWriter{w}))
	case *http.Response:
		relay(w, c.Request, answer)
	default:
		write(w, status, answer)
	}
	return nil
}

// statuses has the status of each error that is not 400.
var statuses = map[bridge.Code]int{
	bridge.CodeUnauthorized: http.StatusUnauthorized, bridge.CodeForbidden: http.StatusForbidden, bridge.CodeSendDisabled: http.StatusForbidden,
	bridge.CodeNotFound: http.StatusNotFound, bridge.CodePayloadTooLarge: http.StatusRequestEntityTooLarge, bridge.CodeRateLimited: http.StatusTooManyRequests,
	bridge.CodeLookUpsLimited: http.StatusTooManyRequests, bridge.CodeNewChatsLimited: http.StatusTooManyRequests, bridge.CodeNewChatsCapped: http.StatusTooManyRequests, bridge.CodeReachoutRestricted: http.StatusTooManyRequests,
	bridge.CodeMediaUnavailable: http.StatusServiceUnavailable, bridge.CodeStorageUnavailable: http.StatusServiceUnavailable,
	bridge.CodeInternal: http.StatusInternalServerError, bridge.CodeSendTimeout: http.StatusGatewayTimeout, bridge.CodeRequestInProgress: http.StatusConflict,
	bridge.CodeIdempotencyMismatch: http.StatusUnprocessableEntity, bridge.CodeTooManyConnections: http.StatusServiceUnavailable,
}

// Status returns the HTTP status that the upstream APIs use for an error.
func Status(code bridge.Code) int {
	if status, known := statuses[code]; known {
		return status
	}
	return http.StatusBadRequest
}

const internalError = "something went wrong inside the bridge; its log says what"

// fail answers an error in the upstream API's form, and logs the cause of an internal one.
func (a *Adapter) fail(w http.ResponseWriter, r *http.Request, c *Call, err error) {
	front.RefuseBody(w, r)
	known, ok := errors.AsType[*bridge.Error](err)
	if !ok && r.Context().Err() != nil { // the caller has gone, or the bridge stops
		known, ok = bridge.NotConnected("the bridge is stopping; ask again when it is back"), true
	}
	if !ok || known.Code == bridge.CodeInternal {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("compatibility API")
		known = &bridge.Error{Code: bridge.CodeInternal, Msg: internalError}
	}
	if c != nil && c.Fields != nil {
		renamed := *known
		renamed.Msg = c.Fields.Rename(known.Msg)
		if address := c.Fields["url"]; known.Code == bridge.CodeFetchFailed && address != "" {
			renamed.Msg = address + ": " + known.Msg
		}
		known = &renamed
	}
	if known.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(known.RetryAfter.Seconds()))))
	}
	status, body := a.upstream.Refusal(r, c, known)
	write(w, status, body)
}

// begin writes the header of an answer in JSON.
func begin(w http.ResponseWriter, status int) {
	front.SecureHeader(w.Header())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	front.AnswerNow(w)
	w.WriteHeader(status)
}

// write answers JSON.
func write(w http.ResponseWriter, status int, body any) {
	encoded, err := bridge.EncodeJSON(body)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte(`{}`)
	}
	begin(w, status)
	_, _ = w.Write(encoded) // an error means that the caller has gone
}

// relay passes an answer of the API on.
func relay(w http.ResponseWriter, r *http.Request, answer *http.Response) {
	defer answer.Body.Close()
	front.SecureHeader(w.Header())
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, err := io.Copy(deadlineWriter{w}, answer.Body)
	closeUnfinished(r, err)
}

// closeUnfinished closes the connection if an answer failed after it began. It does nothing if err is nil.
func closeUnfinished(r *http.Request, err error) {
	if err != nil {
		hlog.FromRequest(r).Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot finish an answer; closing the connection")
		panic(http.ErrAbortHandler)
	}
}

// deadlineWriter sets a new deadline for each write.
type deadlineWriter struct{ http.ResponseWriter }

func (w deadlineWriter) Write(p []byte) (int, error) {
	front.AnswerNow(w.ResponseWriter)
	return w.ResponseWriter.Write(p)
}
