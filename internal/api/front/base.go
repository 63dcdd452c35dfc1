package front

import (
	"net/http"
	"net/url"
	"strings"
)

// Under serves next under a base path and at the root, because a reverse proxy may pass the base path
// on or remove it, and commands on the same machine do not use it. A base path has no characters that
// could be escaped.
func Under(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, isUnder := cutBase(r.URL.Path, base)
		raw, isUnderRaw := cutBase(r.URL.RawPath, base)
		if !isUnder || r.URL.RawPath != "" && !isUnderRaw {
			next.ServeHTTP(w, r)
			return
		}
		inner := *r
		inner.URL = new(url.URL)
		*inner.URL = *r.URL
		inner.URL.Path, inner.URL.RawPath = path, raw
		next.ServeHTTP(w, &inner)
	})
}

// cutBase returns a path without its base, and whether it has the base.
func cutBase(path, base string) (rest string, isUnder bool) {
	rest, isUnder = strings.CutPrefix(path, base)
	switch {
	case !isUnder || rest != "" && rest[0] != '/':
		return "", false
	case rest == "":
		return "/", true
	}
	return rest, true
}
