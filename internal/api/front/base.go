package front

import (
	"net/http"
	"net/url"
	"strings"
)

// Below serves below a base path what next serves at the root, and there as well: a reverse
// proxy may leave the path or take it off, and the machine's own commands do without it. Such
// a path has nothing that could be escaped.
func Below(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, isBelow := cutBase(r.URL.Path, base)
		raw, isBelowRaw := cutBase(r.URL.RawPath, base)
		if !isBelow || r.URL.RawPath != "" && !isBelowRaw {
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

// cutBase returns a path without the base that it lies below.
func cutBase(path, base string) (rest string, isBelow bool) {
	rest, isBelow = strings.CutPrefix(path, base)
	switch {
	case !isBelow || rest != "" && rest[0] != '/':
		return "", false
	case rest == "":
		return "/", true
	}
	return rest, true
}
