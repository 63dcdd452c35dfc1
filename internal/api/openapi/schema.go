package openapi

import (
	"iter"
	"maps"
	"net/http"
	"slices"
)

// document is the part of an OpenAPI document that can be deprecated.
type document struct {
	Paths      map[string]pathItem
	Components components
}

type components struct {
	Schemas       map[string]schemaText
	Parameters    map[string]parameter
	Responses     map[string]body
	RequestBodies map[string]body
}

type pathItem struct {
	Parameters                    []parameter
	Get, Put, Post, Patch, Delete *operation
}

// operations returns the operations of a path by their methods.
func (p pathItem) operations() iter.Seq2[string, *operation] {
	all := map[string]*operation{http.MethodGet: p.Get, http.MethodPut: p.Put, http.MethodPost: p.Post, http.MethodPatch: p.Patch, http.MethodDelete: p.Delete}
	maps.DeleteFunc(all, func(_ string, o *operation) bool { return o == nil })
	return maps.All(all)
}

// mark marks something as deprecated.
type mark struct {
	Deprecated bool
	Since      string `json:"x-deprecated"`
	Sunset     string `json:"x-sunset"`
}

type operation struct {
	mark
	Parameters  []parameter
	RequestBody body
	Responses   map[string]body
}

type parameter struct {
	mark
	Ref      string `json:"$ref"`
	Name, In string
}

// body is the body of a request or an answer.
type body struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema schemaText }
}

// schemaText is a schema as it is written.
type schemaText struct {
	mark
	Ref                 string `json:"$ref"`
	Properties          map[string]schemaText
	Items               *schemaText
	AllOf, OneOf, AnyOf []schemaText
}

// schema is a schema without references, as far as it has something deprecated.
type schema struct {
	fields  map[string]notice
	inner   map[string]*schema // of fields
	items   *schema
	options []*schema // all that may describe the same value
}

// resolve returns a schema without references. It leaves out the inside of schemas that contain
// themselves.
func (r *reader) resolve(text schemaText, within []string) *schema {
	for text.Ref != "" {
		name := nameOf(text.Ref)
		if slices.Contains(within, name) {
			return &schema{}
		}
		within = append(within[:len(within):len(within)], name)
		text = r.components.Schemas[name]
	}
	s := &schema{fields: make(map[string]notice), inner: make(map[string]*schema)}
	for name, property := range text.Properties {
		if of := r.noticeOf(property.mark, name); of != (notice{}) {
			s.fields[name] = of
		}
		if inner := r.resolve(property, within); inner.all() != (notice{}) {
			s.inner[name] = inner
		}
	}
	if text.Items != nil {
		s.items = r.resolve(*text.Items, within)
	}
	for _, options := range [][]schemaText{text.AllOf, text.OneOf, text.AnyOf} {
		for _, option := range options {
			if resolved := r.resolve(option, within); resolved.all() != (notice{}) {
				s.options = append(s.options, resolved)
			}
		}
	}
	return s
}

// all returns the notice of everything in a schema.
func (s *schema) all() (n notice) {
	if s == nil {
		return n
	}
	for _, of := range s.fields {
		n = n.with(of)
	}
	for _, inner := range s.inner {
		n = n.with(inner.all())
	}
	for _, option := range s.options {
		n = n.with(option.all())
	}
	return n.with(s.items.all())
}

// used returns the notice of the fields that a value of the schema has.
func (s *schema) used(value any) (n notice) {
	if s == nil {
		return n
	}
	for _, option := range s.options {
		n = n.with(option.used(value))
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inside := range v {
			n = n.with(s.fields[name]).with(s.inner[name].used(inside))
		}
	case []any:
		for _, inside := range v {
			n = n.with(s.items.used(inside))
		}
	}
	return n
}
