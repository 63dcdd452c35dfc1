package front

import (
	"net/http"
	"strconv"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// LogFailure logs failures of the service with their cause. For mistakes of callers it only logs
// the code, since their sentences may quote the request.
func LogFailure(r *http.Request, status int, code bridge.Code, err error) {
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

// Begun reports whether the header of the answer was written. It asks the writer of the access log, which
// other writers may wrap.
func Begun(w http.ResponseWriter) bool {
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

// BeginAnswer writes the header of an answer and sets the deadline for reading all of it. A
// negative length is unknown.
func BeginAnswer(w http.ResponseWriter, status int, contentType string, length int) {
	w.Header().Set("Content-Type", contentType)
	if length >= 0 {
		w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	AnswerNow(w)
	w.WriteHeader(status)
}

// WritePiece writes a piece of an answer, and reports whether that succeeded.
func WritePiece(w http.ResponseWriter, r *http.Request, piece []byte) bool {
	_, err := w.Write(piece)
	if err != nil {
		hlog.FromRequest(r).Debug().Err(err).Msg("the caller stopped reading the answer")
	}
	return err == nil
}
