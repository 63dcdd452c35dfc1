package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/callers"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// statusClientGone is the status in the access log if the caller has hung up.
const statusClientGone = 499

// storeRetry is the Retry-After while the store cannot be read or written.
const storeRetry = 10 * time.Second

// handler returns the answer to a request, or nil if it has written one itself.
type handler func(*input) (any, error)

// created is the answer of a route that has created something.
type created struct{ thing any }

func (s *server) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := &input{server: s, w: w, r: r}
		defer func() { in.memory.Release() }()
		answer, err := h(in)
		status := http.StatusOK
		switch a := answer.(type) {
		case created:
			answer, status = a.thing, http.StatusCreated
		case accepted:
			answer, status = a.asked, http.StatusAccepted
		}
		if err == nil && answer != nil {
			err = in.write(status, answer)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// exact handles a route that refuses parameters that it does not know. Routes of the oldest API ignore them.
func (s *server) exact(h handler) http.HandlerFunc {
	return s.handle(func(in *input) (any, error) {
		in.exact = true
		answer, err := h(in)
		if err == nil && answer != nil { // a handler that writes its answer checks them before
			in.onlyKnown()
			err = in.err
		}
		return answer, err
	})
}

// tagged handles a route whose answer has an ETag.
func (s *server) tagged(h handler) http.HandlerFunc {
	return s.handle(func(in *input) (any, error) {
		in.tagged = true
		return h(in)
	})
}

// done is the answer of calls that return nothing else.
type done struct {
	OK bool `json:"ok"`
}

// fail answers with an error and logs it. It only logs if the answer has begun. All errors of
// the API are answered here.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if ended := callers.Ended(r); ended != nil {
		err = ended
	}
	if wentAway(r, err) {
		if !begun(w) {
			w.WriteHeader(statusClientGone)
		}
		return
	}
	e, status := front.Public(err)
	logFailure(r, status, e.Code, err)
	if begun(w) {
		return
	}
	wait := e.RetryAfter
	if wait == 0 && e.Code == bridge.CodeStorageUnavailable {
		wait = storeRetry
	}
	if e.Code == bridge.CodeUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if wait > 0 {
		w.Header().Set("Retry-After", retryAfter(wait))
	}
	_ = (&input{w: w, r: r}).write(status, struct { // its texts can be encoded
		Error   string      `json:"error"`
		Code    bridge.Code `json:"code"`
		Changed []string    `json:"changed,omitempty"` // before it failed
		*bridge.AmbiguousDates
	}{bridge.Beginning(e.Msg, maxSentence), e.Code, e.Changed, e.Dates})
}

// maxSentence bounds the sentence of an error, in characters. It may quote the caller's request,
// and clients read 64 KiB of it.
const maxSentence = 4000

// logFailure logs failures of the service with their cause. For mistakes of callers it only logs
// the code, since their sentences may quote the request.
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
	event.Str("error", bridge.Redact(err.Error())).Int("status", status).Msg("request failed")
}

// wentAway reports whether err only means that the caller hung up.
func wentAway(r *http.Request, err error) bool {
	return r.Context().Err() != nil && errors.Is(err, context.Canceled)
}

// begun reports whether the header of the answer was written. The writer of the access log knows, which
// may be inside others.
func begun(w http.ResponseWriter) bool {
	for {
		if logged, ok := w.(interface{ Status() int }); ok {
			return logged.Status() != 0
		}
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = outer.Unwrap()
	}
}

// retryAfter formats a wait in seconds, rounded up.
func retryAfter(wait time.Duration) string {
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

// write answers with v as JSON. It does not fail if the caller no longer reads.
func (q *input) write(status int, v any) error {
	body, err := bridge.EncodeJSON(v)
	if err == nil {
		q.writeText(status, "application/json", append(body, '\n'))
	}
	return err
}

// writeText answers with a whole text, or with 304 if the caller has it already.
func (q *input) writeText(status int, contentType string, text []byte) {
	if q.tagged && front.Unchanged(q.w, q.r, text) {
		return
	}
	beginAnswer(q.w, status, contentType, len(text))
	writePiece(q.w, q.r, text)
}

// beginAnswer writes the header of an answer and sets the deadline for reading all of it. A
// negative length is unknown.
func beginAnswer(w http.ResponseWriter, status int, contentType string, length int) {
	w.Header().Set("Content-Type", contentType)
	if length >= 0 {
		w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	front.AnswerNow(w)
	w.WriteHeader(status)
}

// writePiece writes a piece of an answer, and reports whether the caller still reads.
func writePiece(w http.ResponseWriter, r *http.Request, piece []byte) bool {
	_, err := w.Write(piece)
	if err != nil {
		hlog.FromRequest(r).Debug().Err(err).Msg("answer not read")
	}
	return err == nil
}
