// Package front bounds what callers may take before their requests reach the routes:
// connections, heads and bodies of requests, and time.
//
// [NewServer] serves a handler within these limits, on the connections that
// [Connections.Listen] accepts. The function of [Connections.Identify] says whose a
// request is.
package front

import (
	"context"
	"log"
	"net"
	"net/http"
	"time"

	"bridged/internal/bridge"

	"github.com/rs/zerolog"
)

// How long a caller may keep a connection busy, without the time for making an answer.
const (
	headerTime = 10 * time.Second // to send a request's head
	refuseTime = time.Second      // to send the body of a request that is refused without it
	idleTime   = 2 * time.Minute  // between two requests

	// BodyTime limits how long a caller takes to send a body, or a piece of a form.
	BodyTime = 30 * time.Second
	// AnswerTime limits how long a caller takes to read an answer, or a piece of it.
	AnswerTime = 30 * time.Second
	// longestAnswer limits routes that set no time of their own.
	longestAnswer = 10 * time.Minute
)

// NewServer returns the HTTP server for handler. The end of lifetime ends the contexts of
// requests that are under way. Connections of [Connections.Listen] are counted, and their
// heads checked.
func NewServer(lifetime context.Context, handler http.Handler, connections *Connections, logger zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           placed(handler),
		ReadHeaderTimeout: headerTime,
		WriteTimeout:      longestAnswer,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHead,
		ConnState:         connections.state,
		ConnContext:       withConn,
		BaseContext:       func(net.Listener) context.Context { return lifetime },
		ErrorLog:          log.New(connectionLog{logger}, "", 0),

		// net/http would answer OPTIONS * itself, and wait for its body without an end.
		DisableGeneralOptionsHandler: true,
	}
}

type connectionLog struct{ log zerolog.Logger }

func (l connectionLog) Write(line []byte) (int, error) {
	l.log.Warn().Str("error", bridge.Redact(string(line))).Msg("http connection")
	return len(line), nil
}

// SecureHeader sets the headers of all answers: browsers must not guess types, caches must
// not keep private data.
func SecureHeader(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
}

// StartBody starts the time in which a body must arrive. net/http's limit for whole requests
// would end a handler's context while it works.
func StartBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		SetDeadline(http.NewResponseController(w).SetReadDeadline, BodyTime)
	}
}

// RefuseBody leaves little time for a refused body, which net/http reads before it sends
// the answer.
func RefuseBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		SetDeadline(http.NewResponseController(w).SetReadDeadline, refuseTime)
	}
}

// BodyRead ends the time of a body that has arrived. If it ran out while the handler works,
// that would look like a caller that hung up. A body that is not read keeps it: net/http
// reads a part of it after the answer.
func BodyRead(w http.ResponseWriter) { SetDeadline(http.NewResponseController(w).SetReadDeadline, 0) }

// AnswerNow starts the time in which the caller must read the answer.
func AnswerNow(w http.ResponseWriter) {
	SetDeadline(http.NewResponseController(w).SetWriteDeadline, AnswerTime)
}

// StopAnswer ends the writing of an answer at once, also a write that waits.
func StopAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // a broken connection shows at the write
}

// SetDeadline sets a connection's deadline, or removes it if after is 0. Writers in the
// process have none, and a broken connection shows at the next read or write.
func SetDeadline(set func(time.Time) error, after time.Duration) {
	var at time.Time
	if after > 0 {
		at = time.Now().Add(after)
	}
	_ = set(at)
}
