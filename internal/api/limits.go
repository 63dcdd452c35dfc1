package api

import (
	"context"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// How long a caller may keep a connection busy. What the service itself needs
// for an answer is not in these: a send has its own time.
const (
	headerTime = 10 * time.Second // to send a request's head
	bodyTime   = 30 * time.Second // to send its body
	answerTime = 30 * time.Second // to take an answer
	refuseTime = time.Second      // to send a body whose request is refused without it
	idleTime   = 2 * time.Minute  // between two requests

	// longestAnswer is for routes that set no time of their own.
	longestAnswer = 10 * time.Minute
)

// NewServer makes the HTTP server for handler, with limits that slow and
// greedy callers run into and ordinary ones do not. lifetime ends the contexts
// of the requests that are still under way. Those of its connections that come
// from a listener of connections are counted and their heads bounded.
func NewServer(lifetime context.Context, handler http.Handler, connections *Connections, logger zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           whileOpen(handler),
		ReadHeaderTimeout: headerTime,
		WriteTimeout:      longestAnswer,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHead,
		ConnState:         connections.state,
		ConnContext:       withConn,
		BaseContext:       func(net.Listener) context.Context { return lifetime },
		ErrorLog:          log.New(connectionLog{logger}, "", 0),

		// net/http would answer OPTIONS * itself, past all that handlers do, and
		// wait for its body without an end.
		DisableGeneralOptionsHandler: true,
	}
}

// connectionLog takes what net/http has to say of connections.
type connectionLog struct{ log zerolog.Logger }

func (l connectionLog) Write(line []byte) (int, error) {
	l.log.Warn().Str("error", redact(string(line))).Msg("http connection")
	return len(line), nil
}

// limitBody gives a body its time to come. net/http's own limit for whole
// requests would end a handler's context while it works.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		startBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// startBody starts the time of a body that is still to come.
func startBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		setDeadline(http.NewResponseController(w).SetReadDeadline, bodyTime)
	}
}

// refuseBody leaves a body little time that nobody wants: net/http takes it in
// before the answer is sent. Reading it all the same gives it its time again.
func refuseBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		setDeadline(http.NewResponseController(w).SetReadDeadline, refuseTime)
	}
}

// bodyRead ends the time of a body that has come, which would else run on while
// the handler works and look like a caller that hung up. A body that has not
// come keeps it: net/http still reads a part of it after the answer.
func bodyRead(w http.ResponseWriter) { setDeadline(http.NewResponseController(w).SetReadDeadline, 0) }

// answerNow starts the caller's time to take the answer.
func answerNow(w http.ResponseWriter) {
	setDeadline(http.NewResponseController(w).SetWriteDeadline, answerTime)
}

// setDeadline sets a connection's deadline, or takes it away with 0. Writers
// without a connection (tests, in-process callers) have none, and on a broken
// one the next read or write tells.
func setDeadline(set func(time.Time) error, after time.Duration) {
	var at time.Time
	if after > 0 {
		at = time.Now().Add(after)
	}
	_ = set(at)
}
