package frame

import (
	"net/http"
	"regexp"
	"strings"
)

// addressPattern finds the addresses of this bridge in a page. No text of other people is taken
// for one: the templates escape its quotes, and these attributes hold nothing else.
var addressPattern = regexp.MustCompile(`( (?:href|src|action|formaction|content|data-(?:find|from|mentions|picture|show|sound|suggest))="(?:0;url=)?)/([^/])`)

// withBase puts a base path before the addresses in a page.
func withBase(base string, page []byte) []byte {
	if base == "" {
		return page
	}
	return addressPattern.ReplaceAll(page, []byte("${1}"+base+"/${2}"))
}

// based puts a base path before the address that an answer leads to.
type based struct {
	http.ResponseWriter
	base string
}

// WriteHeader begins the answer.
func (w based) WriteHeader(status int) {
	if to := w.Header().Get("Location"); strings.HasPrefix(to, "/") {
		w.Header().Set("Location", w.base+to)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the writer below; see [http.NewResponseController].
func (w based) Unwrap() http.ResponseWriter { return w.ResponseWriter }
