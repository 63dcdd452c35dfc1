package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

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
		if !front.Begun(w) {
			w.WriteHeader(statusClientGone)
		}
		return
	}
	e, status := front.Public(err)
	front.LogFailure(r, status, e.Code, err)
	if front.Begun(w) {
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

// wentAway reports whether err only means that the caller hung up.
func wentAway(r *http.Request, err error) bool {
	return r.Context().Err() != nil && errors.Is(err, context.Canceled)
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
	front.BeginAnswer(q.w, status, contentType, len(text))
	front.WritePiece(q.w, q.r, text)
}
