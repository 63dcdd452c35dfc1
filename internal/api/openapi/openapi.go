// Package openapi serves the OpenAPI document of the API, and announces its deprecated parts in the headers
// of answers.
package openapi

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/oasdiff/yaml"
)

// Document is an OpenAPI document as one bridge serves it.
type Document struct {
	text         []byte
	asJSON       func() ([]byte, error)
	deprecations *deprecations // nil if nothing is deprecated
	fault        error
}

// New returns the document of a bridge. Its version is the bridge's, if that is known, and its server
// has the base path. Headers that announce deprecated parts link to it, unless it is hidden.
func New(text []byte, version, base string, hidden bool) *Document {
	if version != "" {
		text = bytes.Replace(text, []byte("\n  version: dev\n"), []byte("\n  version: "+strconv.Quote(version)+"\n"), 1)
	}
	if base != "" {
		text = bytes.Replace(text, []byte("\nservers:\n  - url: /\n"), []byte("\nservers:\n  - url: "+base+"\n"), 1)
	}
	d := &Document{text: text, asJSON: sync.OnceValues(func() ([]byte, error) {
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, fmt.Errorf("convert openapi.yaml: %w", err)
		}
		return converted, nil
	})}
	link := base + "/openapi.yaml"
	if hidden {
		link = ""
	}
	d.deprecations, d.fault = readDeprecations(text, link)
	return d
}

// Fault returns the faults in the marks of deprecated parts, which are then not announced.
func (d *Document) Fault() error { return d.fault }

// Announces announces the deprecated parts that calls of the routes use, except for fields of bodies, which
// are not read yet; see [Document.Announce].
func (d *Document) Announces(routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if d.deprecations == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at, method := chi.NewRouteContext(), strings.Replace(r.Method, http.MethodHead, http.MethodGet, 1)
			if routes.Match(at, method, cmp.Or(r.URL.RawPath, r.URL.Path)) {
				d.deprecations.announce(w.Header(), r, method+" "+at.RoutePattern(), nil)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Announce announces the deprecated parts that a call uses, including fields of its JSON body. The router
// must have found its route. A nil document announces nothing.
func (d *Document) Announce(w http.ResponseWriter, r *http.Request, body []byte) {
	if d != nil && d.deprecations != nil {
		d.deprecations.announce(w.Header(), r, r.Method+" "+chi.RouteContext(r.Context()).RoutePattern(), body)
	}
}

// YAML returns the document as it is written.
func (d *Document) YAML() []byte { return d.text }

// JSON returns the document as JSON, which the first call converts.
func (d *Document) JSON() ([]byte, error) { return d.asJSON() }
