// Package explorer shows the API's reference and calls its operations from forms.
package explorer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// document holds the part of an OpenAPI document that the reference shows.
type document struct {
	Info  struct{ Description string }
	Tags  []struct{ Name, Description string }
	Paths map[string]struct {
		Parameters                    []parameter
		Get, Post, Put, Patch, Delete *documented
	}
	Components struct {
		Schemas    map[string]schema
		Parameters map[string]parameter
		Responses  map[string]response
	}
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        any
	Description string
	Enum        []any
	Required    []string
	Properties  map[string]schema
	Items       *schema
	OneOf       []schema
	Pattern     string
	Default     any
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      schema
	Example     any
}

type content map[string]struct {
	Schema  schema
	Example json.RawMessage
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     content
}

type documented struct {
	Tags                 []string
	OperationID          string
	Summary, Description string
	Parameters           []parameter
	RequestBody          struct{ Content content }
	Responses            map[string]response
}

type referencePage struct {
	About  string
	Groups []operationGroup
}

type operationGroup struct {
	Name, About string
	Operations  []operation
}

// operation describes one method of one path.
type operation struct {
	documented
	Method, Path     string
	Parameters, Body []field
	Answers          []answer
	Example          string // of an answer
	Sample           string // of a body
	Kind             string // of the body; empty if none
	TakesFile        bool   // whether the body is a form with a file
	Writes           bool   // whether it may change something
	Curl             string
}

// field describes a parameter, or a property of a body.
type field struct {
	Name, In, Type, About string
	Required              bool
	Example               string
	Default               string
	Options               []any // the values that it may have; none for any
	IsChat                bool  // whether it is a JID
	OfGroup, OfPerson     bool  // the kind of JID
}

type answer struct{ Status, About string }

// ShowReference lists all operations.
func ShowReference(req *frame.Request) error {
	d, err := documentOf(req)
	if err != nil {
		return err
	}
	return req.Show("reference", "API", d.page())
}

// documentOf returns the API's own description.
func documentOf(req *frame.Request) (*document, error) {
	var d document
	if err := req.API.Call(req.Context(), http.MethodGet, "/openapi.json", nil, &d); err != nil {
		return nil, fmt.Errorf("read the API's document: %w", err)
	}
	return &d, nil
}

func (d *document) page() referencePage {
	page := referencePage{About: d.Info.Description}
	for _, tag := range d.Tags {
		group := operationGroup{Name: tag.Name, About: tag.Description}
		for _, path := range sortedKeys(d.Paths) {
			item := d.Paths[path]
			for i, op := range []*documented{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && slices.Contains(op.Tags, tag.Name) {
					method := []string{"GET", "POST", "PUT", "PATCH", "DELETE"}[i]
					group.Operations = append(group.Operations, d.operation(method, path, *op, item.Parameters))
				}
			}
		}
		if len(group.Operations) > 0 {
			page.Groups = append(page.Groups, group)
		}
	}
	return page
}

func (d *document) operation(method, path string, op documented, shared []parameter) operation {
	shown := operation{documented: op, Method: method, Path: path, Writes: method != http.MethodGet, Curl: view.Curl(method, path, nil)}
	for _, p := range slices.Concat(shared, op.Parameters) {
		p = resolve(p, p.Ref, d.Components.Parameters)
		shown.Parameters = append(shown.Parameters, d.parameterField(p))
	}
	for _, kind := range sortedKeys(op.RequestBody.Content)[:min(1, len(op.RequestBody.Content))] { // application/json, if it is among them
		media := op.RequestBody.Content[kind]
		shown.Body, shown.Kind, shown.Sample = d.fields(media.Schema), kind, view.Indented(media.Example)
		if kind == "multipart/form-data" {
			shown.TakesFile = true
			shown.Curl = view.Curl(method, path, nil, formArguments(media.Example)...)
		} else if len(media.Example) > 0 {
			shown.Curl = view.Curl(method, path, media.Example)
		}
	}
	for _, status := range sortedKeys(op.Responses) {
		r := resolve(op.Responses[status], op.Responses[status].Ref, d.Components.Responses)
		shown.Answers = append(shown.Answers, answer{status, r.Description})
		for _, media := range r.Content {
			if strings.HasPrefix(status, "2") {
				shown.Example = cmp.Or(shown.Example, view.Indented(media.Example))
			}
		}
	}
	return shown
}

// parameterField describes a parameter and its values.
func (d *document) parameterField(p parameter) field {
	s := resolve(p.Schema, p.Schema.Ref, d.Components.Schemas)
	f := field{Name: p.Name, In: p.In, Type: d.typeOf(s), About: p.Description, Required: p.Required}
	if p.Example != nil {
		f.Example = fmt.Sprint(p.Example)
	}
	f.limit(s)
	return f
}

// limit sets the values that a field may have.
func (f *field) limit(s schema) {
	f.Options = s.Enum
	if s.Default != nil {
		f.Default = fmt.Sprint(s.Default)
	}
	if s.Type == "boolean" {
		f.Options = []any{true, false}
	}
	group, person := strings.Contains(s.Pattern, `@g\.us`), strings.Contains(s.Pattern, `s\.whatsapp`)
	f.IsChat, f.OfGroup, f.OfPerson = group || person, group && !person, person && !group
}

// fields returns the properties of a body, the required ones first.
func (d *document) fields(s schema) (list []field) {
	s = resolve(s, s.Ref, d.Components.Schemas)
	for _, required := range []bool{true, false} {
		for _, name := range sortedKeys(s.Properties) {
			if slices.Contains(s.Required, name) == required {
				property := s.Properties[name]
				resolved := resolve(property, property.Ref, d.Components.Schemas)
				f := field{Name: name, Type: d.typeOf(property), Required: required, About: cmp.Or(property.Description, resolved.Description)}
				f.limit(resolved)
				list = append(list, f)
			}
		}
	}
	return list
}

func (d *document) typeOf(s schema) string {
	s = resolve(s, s.Ref, d.Components.Schemas)
	kinds, isList := s.Type.([]any)
	switch {
	case len(s.Enum) > 0:
		return alternatives(s.Enum)
	case isList:
		return alternatives(kinds)
	case s.Type == "array" && s.Items != nil:
		return "array of " + d.typeOf(*s.Items)
	case s.Type != nil:
		return fmt.Sprint(s.Type)
	case len(s.OneOf) > 0:
		return d.typeOf(s.OneOf[0])
	}
	return "any"
}

func alternatives(values []any) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = fmt.Sprint(value)
	}
	return strings.Join(words, " | ")
}

// resolve returns the component that a reference names, or the value itself.
func resolve[T any](value T, ref string, among map[string]T) T {
	if ref == "" {
		return value
	}
	return among[ref[strings.LastIndexByte(ref, '/')+1:]]
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

var (
	boldPattern = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	codePattern = regexp.MustCompile("`([^`]+)`")
)

// inline renders bold and code in a sentence of the document.
func inline(text string) template.HTML {
	text = template.HTMLEscapeString(strings.Join(strings.Fields(text), " "))
	text = boldPattern.ReplaceAllString(text, "<strong>$1</strong>")
	return template.HTML(codePattern.ReplaceAllString(text, "<code>$1</code>"))
}

// blocks renders the document's Markdown: paragraphs and lists.
func blocks(text string) template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		switch {
		case strings.HasPrefix(paragraph, "- "):
			b.WriteString(`<ul class="bullets">`)
			for _, item := range strings.Split("\n"+paragraph, "\n- ")[1:] {
				fmt.Fprintf(&b, "<li>%s</li>", inline(item))
			}
			b.WriteString("</ul>")
		case paragraph != "":
			fmt.Fprintf(&b, "<p>%s</p>", inline(paragraph))
		}
	}
	return template.HTML(b.String())
}

func formArguments(example json.RawMessage) (arguments []string) {
	var fields map[string]string
	if json.Unmarshal(example, &fields) != nil {
		return nil
	}
	if _, ok := fields["file"]; ok {
		fields["file"] = "@engine.pdf"
	}
	for _, name := range sortedKeys(fields) {
		arguments = append(arguments, "-F "+view.ShellQuoted(name+"="+fields[name]))
	}
	return arguments
}
