package front

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
)

// MethodsOf returns the methods of a path, in order.
func MethodsOf(routes chi.Routes, r *http.Request) []string {
	path := cmp.Or(r.URL.RawPath, r.URL.Path)
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if routes.Match(chi.NewRouteContext(), method, path) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 && allowed[0] == http.MethodGet {
		allowed = slices.Insert(allowed, 1, http.MethodHead) // see HeadAsGet
	}
	return allowed
}

// Secure sets the headers of all answers, and the deadline for the body.
func Secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SecureHeader(w.Header())
		StartBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// HeadAsGet routes HEAD to the handlers of GET. chi's own middleware would link net/http/pprof.
func HeadAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}
