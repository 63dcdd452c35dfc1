package frame

import (
	"net/http"
	"regexp"
	"strings"
)

// addressPattern finds the addresses of this bridge in a page. It matches no text of other people:
// the templates escape its quotes, and these attributes only have addresses. Addresses of other
// bridges are in single quotes, and stay as they are.
var addressPattern = regexp.MustCompile(`( (?:href|src|action|formaction|poster|content|data-(?:find|from|mentions|picture|show|sound|suggest))="(?:0;url=)?)/([^/])`)

// withBase puts a base path before the addresses in a page.
func withBase(base string, page []byte) []byte {
	if base == "" {
		return page
	}
	return addressPattern.ReplaceAll(page, []byte("${1}"+base+"/${2}"))
}

// based puts the base path before the address of a redirect.
type based struct {
	http.ResponseWriter
	base string
}

// WriteHeader implements [http.ResponseWriter].
func (w based) WriteHeader(status int) {
	if to := w.Header().Get("Location"); strings.HasPrefix(to, "/") {
		w.Header().Set("Location", w.base+to)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.NewResponseController].
func (w based) Unwrap() http.ResponseWriter { return w.ResponseWriter }
