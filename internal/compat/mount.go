package compat

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// prefixKey is the key of a request's prefix in its context.
type prefixKey struct{}

// Base returns the adapter's address from the caller's view, without a slash at the end. Links in
// answers begin with it.
func (c *Call) Base() string {
	scheme := "http"
	if c.TLS != nil || c.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	prefix, _ := c.Context().Value(prefixKey{}).(string)
	return scheme + "://" + c.Host + prefix
}

var slashes = regexp.MustCompile(`/{2,}`)

// Mount serves an adapter under a prefix, or at the root of its own listener if prefix is empty. Callers
// see base before the prefix. Clients concatenate addresses, so slashes at the end are ignored and
// repeated ones count as one. The end of stopping cancels calls.
func Mount(base, prefix string, adapter http.Handler, stopping context.Context, log zerolog.Logger) http.Handler {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), prefixKey{}, base+prefix))
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		if r.ContentLength < 0 {
			w.Header().Set("Connection", "close") // the server does not see the end of chunks
		}
		r = r.Clone(ctx)
		r.URL.Path = "/" + strings.Trim(slashes.ReplaceAllString(strings.TrimPrefix(r.URL.Path, prefix), "/"), "/")
		r.URL.RawPath = ""
		adapter.ServeHTTP(w, r)
	})
	return front.Observe(inner, log, func(r *http.Request, status, size int, took time.Duration) {
		front.Accessed(front.AccessLine(r, status), withoutIDs(r), status, size, took).Msg("compatibility API")
	}, func(w http.ResponseWriter, r *http.Request, err error) {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("compatibility API")
		write(w, http.StatusInternalServerError, map[string]any{"statusCode": http.StatusInternalServerError, "status": http.StatusInternalServerError, "message": internalError})
	})
}

// encodedID finds ids that contain an encoded phone number, such as those of the Cloud API's files.
var encodedID = regexp.MustCompile(`/(m|wamid\.)[A-Za-z0-9_-]{24,}`)

// withoutIDs returns a request for the log, without such ids in its path.
func withoutIDs(r *http.Request) *http.Request {
	if !encodedID.MatchString(r.URL.Path) {
		return r
	}
	redacted := *r
	redacted.URL = &url.URL{Path: encodedID.ReplaceAllString(r.URL.Path, "/$1…")}
	return &redacted
}
