package console

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// observe gives a request its id and logger, writes the access log and turns a
// panic into an answer, as the API does for its routes.
func (c *Console) observe(next http.Handler) http.Handler {
	chain := hlog.AccessHandler(logAccess)(c.recoverPanic(next))
	return hlog.NewHandler(c.options.Log)(hlog.RequestIDHandler("request_id", "X-Request-Id")(chain))
}

// logAccess leaves out the query, which may hold what people search for. Pages
// that the script asks for again and again are not worth a line.
func logAccess(r *http.Request, status, size int, took time.Duration) {
	event := hlog.FromRequest(r).Debug()
	if r.Method != http.MethodGet || status >= http.StatusBadRequest {
		event = hlog.FromRequest(r).Info()
	}
	path := r.URL.Path
	if len(path) > 256 {
		path = strings.ToValidUTF8(path[:256], "") + "…"
	}
	event.Str("method", bridge.Redact(r.Method[:min(len(r.Method), 16)])).Str("path", bridge.Redact(path)).
		Int("status", status).Int("size", size).Dur("took_ms", took).Msg("console")
}

// recoverPanic answers 500 if a page panics. A deliberate abort passes on to
// net/http.
func (c *Console) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			// Of the value, which may hold what people wrote, the log gets the type.
			hlog.FromRequest(r).Error().Str("error", fmt.Sprintf("panic of type %T\n%s", cause, debug.Stack())).Msg("console page failed")
			http.Error(w, "Something went wrong inside the service; its log says what.", http.StatusInternalServerError)
		}()
		next.ServeHTTP(w, r)
	})
}
