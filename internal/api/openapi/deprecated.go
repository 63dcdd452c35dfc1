package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oasdiff/yaml"
)

// minMonths is the time that deprecated parts work at least.
const minMonths = 6

// notice says when something was deprecated and when it ends. The zero notice means that it is not
// deprecated.
type notice struct{ since, sunset time.Time }

// with returns the earlier dates of two notices.
func (n notice) with(other notice) notice {
	switch {
	case n == notice{}:
		return other
	case other == notice{}:
		return n
	}
	if other.since.Before(n.since) {
		n.since = other.since
	}
	if other.sunset.Before(n.sunset) {
		n.sunset = other.sunset
	}
	return n
}

// deprecations lists the deprecated parts of a document.
type deprecations struct {
	operations map[string]*deprecated // by method and path
	link       string                 // the header Link; empty if none
}

// deprecated lists the deprecated parts of an operation.
type deprecated struct {
	always  notice            // of the operation, or of something in its answers
	queries map[string]notice // of parameters in the query
	headers map[string]notice // of headers
	body    *schema           // of JSON bodies; nil if nothing in it is deprecated
}

// readDeprecations reads the parts that a document marks with "deprecated: true", "x-deprecated", the date of the
// decision, and "x-sunset", the date from which it may be gone: operations, parameters, and fields of
// bodies and of answers. Link is where the document is served; empty for nowhere. It returns nil if
// nothing is deprecated, and an error if a mark has no dates or too little time.
func readDeprecations(text []byte, link string) (*deprecations, error) {
	if !bytes.Contains(text, []byte("deprecated: true")) {
		return nil, nil
	}
	var doc document
	if _, err := yaml.Unmarshal(text, &doc, yaml.DecodeOpts{}); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	reader := reader{components: doc.Components}
	found := &deprecations{operations: make(map[string]*deprecated)}
	if link != "" {
		found.link = "<" + link + `>; rel="deprecation"; type="application/yaml"`
	}
	for path, item := range doc.Paths {
		for method, operation := range item.operations() {
			reader.place = method + " " + path
			if one := reader.operation(operation, item.Parameters); one != nil {
				found.operations[reader.place] = one
			}
		}
	}
	return found, errors.Join(reader.faults...)
}

// announce sets the headers Deprecation (RFC 9745) and Sunset (RFC 8594) if a call of an operation uses
// something that is deprecated. Body is the JSON of the request, nil if it is not read yet.
func (d *deprecations) announce(h http.Header, r *http.Request, operation string, body []byte) {
	one := d.operations[operation]
	if one == nil {
		return
	}
	found := one.always
	for name, of := range one.queries {
		if r.URL.Query().Has(name) {
			found = found.with(of)
		}
	}
	for name, of := range one.headers {
		if r.Header.Get(name) != "" {
			found = found.with(of)
		}
	}
	if one.body != nil && body != nil {
		var value any
		if json.Unmarshal(body, &value) == nil {
			found = found.with(one.body.used(value))
		}
	}
	if found == (notice{}) {
		return
	}
	h.Set("Deprecation", fmt.Sprintf("@%d", found.since.Unix()))
	h.Set("Sunset", found.sunset.Format(http.TimeFormat))
	if d.link != "" {
		h.Set("Link", d.link)
	}
}

// reader reads the operations of a document and collects faults.
type reader struct {
	components components
	place      string // of the operation, for faults
	faults     []error
}

// operation returns the deprecated parts of an operation; nil if none.
func (r *reader) operation(o *operation, shared []parameter) *deprecated {
	found := &deprecated{queries: make(map[string]notice), headers: make(map[string]notice)}
	found.always = r.noticeOf(o.mark, "the operation")
	for _, p := range slices.Concat(shared, o.Parameters) {
		if p.Ref != "" {
			p = r.components.Parameters[nameOf(p.Ref)]
		}
		of := r.noticeOf(p.mark, p.Name)
		switch {
		case of == notice{}:
		case p.In == "query":
			found.queries[p.Name] = of
		case p.In == "header":
			found.headers[p.Name] = of
		default:
			r.faults = append(r.faults, fmt.Errorf("%s: %s is in the %s: deprecate the operation instead", r.place, p.Name, p.In))
		}
	}
	body := o.RequestBody
	if body.Ref != "" {
		body = r.components.RequestBodies[nameOf(body.Ref)]
	}
	for kind, content := range body.Content {
		resolved := r.resolve(content.Schema, nil)
		switch of := resolved.all(); {
		case of == notice{}:
		case kind == "application/json":
			found.body = resolved
		default: // forms are read in pieces
			found.always = found.always.with(of)
		}
	}
	for _, answer := range o.Responses {
		if answer.Ref != "" {
			answer = r.components.Responses[nameOf(answer.Ref)]
		}
		for _, content := range answer.Content {
			found.always = found.always.with(r.resolve(content.Schema, nil).all())
		}
	}
	if found.always == (notice{}) && len(found.queries) == 0 && len(found.headers) == 0 && found.body == nil {
		return nil
	}
	return found
}

// noticeOf returns the dates of a mark, and notes a fault if they are missing or too close.
func (r *reader) noticeOf(m mark, name string) notice {
	if !m.Deprecated {
		return notice{}
	}
	since, err := dateOf(m.Since)
	sunset, errSunset := dateOf(m.Sunset)
	switch {
	case err != nil || errSunset != nil:
		r.faults = append(r.faults, fmt.Errorf("%s: %s is deprecated without dates: add x-deprecated and x-sunset, such as 2027-01-31", r.place, name))
		return notice{}
	case sunset.Before(since.AddDate(0, minMonths, 0)):
		r.faults = append(r.faults, fmt.Errorf("%s: x-sunset of %s must be at least %d months after x-deprecated", r.place, name, minMonths))
	}
	return notice{since, sunset}
}

// dateOf parses a date. YAML's reader turns dates without quotes into times.
func dateOf(text string) (time.Time, error) {
	date, _, _ := strings.Cut(text, "T")
	return time.Parse(time.DateOnly, date)
}

// nameOf returns the name of a component that a reference names.
func nameOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
