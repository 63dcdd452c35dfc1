// Package front limits the connections, the heads and bodies of requests, and the time and memory of
// answers, for each caller and for all callers together.
//
// [NewServer] serves a handler within these limits, on the connections that [Connections.Listen]
// accepts. The function of [Connections.Identify] identifies the caller of a request.
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

// Limits of the time that a caller may take.
const (
	headerTimeout = 10 * time.Second // to send a request's head
	refuseTimeout = time.Second      // to send the body of a request that is refused without it
	idleTimeout   = 2 * time.Minute  // between two requests

	// BodyTimeout limits how long a caller takes to send a body, or a chunk of a form.
	BodyTimeout = 30 * time.Second
	// AnswerTimeout limits how long a caller takes to read an answer, or a chunk of it.
	AnswerTimeout = 30 * time.Second
	// longestAnswer limits routes that do not set a deadline.
	longestAnswer = 10 * time.Minute
)

// NewServer returns the HTTP server for handler. The contexts of requests end with lifetime.
// Connections of [Connections.Listen] are counted, and their heads checked.
func NewServer(lifetime context.Context, handler http.Handler, connections *Connections, logger zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           withSlots(handler),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      longestAnswer,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHead,
		ConnState:         connections.state,
		ConnContext:       withConn,
		BaseContext:       func(net.Listener) context.Context { return lifetime },
		ErrorLog:          log.New(connectionLog{logger}, "", 0),

		// net/http would answer OPTIONS * itself, and wait for its body without a limit.
		DisableGeneralOptionsHandler: true,
	}
}

type connectionLog struct{ log zerolog.Logger }

func (l connectionLog) Write(line []byte) (int, error) {
	l.log.Warn().Str("error", bridge.Redact(string(line))).Msg("http connection")
	return len(line), nil
}

// SecureHeader sets the headers of all answers. Browsers must not guess types, and caches must not
// store private data.
func SecureHeader(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
}

// StartBody sets the deadline for receiving a body. net/http's limit for whole requests would end a
// handler's context while it works.
func StartBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		SetDeadline(http.NewResponseController(w).SetReadDeadline, BodyTimeout)
	}
}

// RefuseBody sets a short deadline for a refused body, because net/http reads it before it sends the
// answer.
func RefuseBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		SetDeadline(http.NewResponseController(w).SetReadDeadline, refuseTimeout)
	}
}

// BodyRead removes the deadline of a body that was received: if it passed while the handler works, the
// caller would seem to have hung up. A body that is not read must have a deadline, because net/http
// reads a part of it after the answer.
func BodyRead(w http.ResponseWriter) { SetDeadline(http.NewResponseController(w).SetReadDeadline, 0) }

// AnswerNow sets the deadline for the caller to read the answer.
func AnswerNow(w http.ResponseWriter) {
	SetDeadline(http.NewResponseController(w).SetWriteDeadline, AnswerTimeout)
}

// StopAnswer makes all writes of an answer fail, including one that waits.
func StopAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // a broken connection shows at the write
}

// SetDeadline sets a connection's deadline, or removes it if after is 0. It ignores errors: requests
// within the process have no deadlines, and a broken connection fails at the next read or write.
func SetDeadline(set func(time.Time) error, after time.Duration) {
	var at time.Time
	if after > 0 {
		at = time.Now().Add(after)
	}
	_ = set(at)
}
