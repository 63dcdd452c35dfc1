package front

import (
	"net/http"

	"github.com/rs/cors"
)

// preflightAge is how long browsers remember what is permitted, in seconds.
const preflightAge = 600

// CORS returns a middleware that lets pages of other origins read answers, or nothing without origins. "*"
// is any origin. Pages need a token of their own: cookies are never sent.
func CORS(origins []string) func(http.Handler) http.Handler {
	if len(origins) == 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	permit := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{
			"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "If-Modified-Since", "If-Range", "Last-Event-ID", "Prefer", "Range", "X-Confirm-Wipe",
		},
		ExposedHeaders: []string{
			"Content-Disposition", "Content-Length", "Content-Range", "Deprecation", "ETag", "Idempotency-Replayed", "Link", "Retry-After", "Sunset", "X-Messenger-Media-Type", "X-Request-Id",
		},
		MaxAge: preflightAge,
	})
	return func(next http.Handler) http.Handler {
		permitted := permit.Handler(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions && r.ContentLength != 0 { // no browser asks with a body, which is refused like others
				next.ServeHTTP(w, r)
				return
			}
			permitted.ServeHTTP(w, r)
		})
	}
}
