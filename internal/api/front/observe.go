package front

import (
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// Observe gives each request an id and a logger, and calls ended after it. If next panics, it calls
// fail, except for [http.ErrAbortHandler].
func Observe(next http.Handler, log zerolog.Logger, ended func(r *http.Request, status, size int, took time.Duration), fail func(http.ResponseWriter, *http.Request, error)) http.Handler {
	recovering := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				fail(w, r, panicError(cause))
			}
		}()
		next.ServeHTTP(w, r)
	})
	return hlog.NewHandler(log)(hlog.RequestIDHandler("request_id", "X-Request-Id")(hlog.AccessHandler(ended)(recovering)))
}

// panicError returns a panic as an error for the log, with the stack. Values other than runtime errors
// are logged by their type only, because they may contain messages.
func panicError(cause any) error {
	what := fmt.Sprintf("of type %T", cause)
	if fault, ok := cause.(runtime.Error); ok {
		what = fault.Error()
	}
	return fmt.Errorf("panic %s\n%s", what, debug.Stack())
}

// Accessed adds a request and its answer to a line of the access log. It leaves out the query, which
// may be private.
func Accessed(line *zerolog.Event, r *http.Request, status, size int, took time.Duration) *zerolog.Event {
	return line.Str("method", bridge.Redact(Shortened(r.Method, 16))).
		Str("path", bridge.Redact(withoutKeys(Shortened(r.URL.Path, 256)))).
		Int("status", status).
		Int("size", size).
		Dur("took_ms", took).
		Str("caller", callerOf(r))
}

// callerOf returns the caller's address without its port, or the name of the part of this process that
// made the request.
func callerOf(r *http.Request) string {
	if at := addressOf(r); at.IsValid() {
		return at.String()
	}
	return r.RemoteAddr
}

// hookInPath matches the address of a hook, which has a secret key, also after a prefix.
var hookInPath = regexp.MustCompile(`(?i)(hooks/+[0-9]*)[^0-9/].*`)

// hookKeyForm matches a key, however the rest of the path is encoded.
var hookKeyForm = regexp.MustCompile(`[A-Z2-7]{20,}`)

func withoutKeys(path string) string {
	return hookKeyForm.ReplaceAllString(hookInPath.ReplaceAllString(path, "$1…"), "…")
}

// Shortened returns the first most bytes of a caller's text, with "…" if it was longer.
func Shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
