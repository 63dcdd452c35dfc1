package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// referencePage is the reference of the API, from its own document.
type referencePage struct {
	About  []block
	Groups []operationGroup
}

// operationGroup are the operations of one tag.
type operationGroup struct {
	Name, About string
	Operations  []operation
}

// operation is one method of one path.
type operation struct {
	ID, Method, Path string
	Summary          string
	About            []block
	Parameters       []field
	Body             []field
	Answers          []answer
	Example          string // of an answer
	Curl             string
}

// field is a parameter, or a property of a body.
type field struct {
	Name, In, Type string
	Required       bool
	About          []run
}

// answer is a status and what it means.
type answer struct {
	Status string
	About  []run
}

// reference keeps the page, which is the same for everybody, once it was made.
type reference struct {
	mu   sync.Mutex // guards page
	page *referencePage
}

// showReference answers the reference.
func (c *Console) showReference(v *visit) error {
	page, err := c.reference.get(v)
	if err != nil {
		return err
	}
	v.show(http.StatusOK, "reference", "API", page)
	return nil
}

func (r *reference) get(v *visit) (*referencePage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.page != nil {
		return r.page, nil
	}
	var doc document
	if err := v.api.Call(v.r.Context(), http.MethodGet, "/openapi.json", nil, &doc); err != nil {
		return nil, fmt.Errorf("read the API's document: %w", err)
	}
	r.page = doc.page()
	return r.page, nil
}

// document is what the reference needs of an OpenAPI document.
type document struct {
	Info  struct{ Description string }
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]json.RawMessage

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
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      schema
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
	RequestBody          *struct{ Content content }
	Responses            map[string]response
}

// methods are those of HTTP, in the order in which they are shown.
var methods = []string{"get", "post", "put", "patch", "delete"}

// page returns the reference by tags.
func (d *document) page() *referencePage {
	page := &referencePage{About: blocks(d.Info.Description)}
	for _, tag := range d.Tags {
		group := operationGroup{Name: tag.Name, About: tag.Description}
		for _, path := range sortedKeys(d.Paths) {
			group.Operations = append(group.Operations, d.operationsOf(path, tag.Name)...)
		}
		if len(group.Operations) > 0 {
			page.Groups = append(page.Groups, group)
		}
	}
	return page
}

// operationsOf returns the operations of a path that have a tag.
func (d *document) operationsOf(path, tag string) (list []operation) {
	item := d.Paths[path]
	var shared []parameter
	if raw, ok := item["parameters"]; ok && json.Unmarshal(raw, &shared) != nil {
		shared = nil // a test reads every page of the reference
	}
	for _, method := range methods {
		var op documented
		if raw, ok := item[method]; !ok || json.Unmarshal(raw, &op) != nil || !slices.Contains(op.Tags, tag) {
			continue
		}
		list = append(list, d.operation(method, path, op, shared))
	}
	return list
}

func (d *document) operation(method, path string, op documented, shared []parameter) operation {
	shown := operation{ID: op.OperationID, Method: strings.ToUpper(method), Path: path, Summary: op.Summary, About: blocks(op.Description)}
	for _, p := range slices.Concat(shared, op.Parameters) {
		p = resolve(p, p.Ref, d.Components.Parameters)
		shown.Parameters = append(shown.Parameters, field{Name: p.Name, In: p.In, Type: d.typeOf(p.Schema), Required: p.Required, About: runs(p.Description)})
	}
	var body json.RawMessage
	isForm := false
	if op.RequestBody != nil {
		for kind, media := range op.RequestBody.Content {
			shown.Body, body, isForm = d.fields(media.Schema), media.Example, kind == "multipart/form-data"
		}
	}
	for _, status := range sortedKeys(op.Responses) {
		r := resolve(op.Responses[status], op.Responses[status].Ref, d.Components.Responses)
		shown.Answers = append(shown.Answers, answer{status, runs(strings.TrimSpace(r.Description))})
		for _, media := range r.Content {
			if strings.HasPrefix(status, "2") && shown.Example == "" {
				shown.Example = indented(media.Example)
			}
		}
	}
	shown.Curl = exampleCurl(shown.Method, path, body, isForm)
	return shown
}

// fields returns the properties of a body, the required ones first.
func (d *document) fields(s schema) []field {
	var required, optional []field
	s = resolve(s, s.Ref, d.Components.Schemas)
	for _, name := range sortedKeys(s.Properties) {
		property := s.Properties[name]
		about := property.Description
		if about == "" {
			about = resolve(property, property.Ref, d.Components.Schemas).Description
		}
		shown := field{Name: name, Type: d.typeOf(property), Required: slices.Contains(s.Required, name), About: runs(about)}
		if shown.Required {
			required = append(required, shown)
		} else {
			optional = append(optional, shown)
		}
	}
	return append(required, optional...)
}

// typeOf returns the type of a value in words.
func (d *document) typeOf(s schema) string {
	s = resolve(s, s.Ref, d.Components.Schemas)
	if len(s.Enum) > 0 {
		return oneOf(s.Enum)
	}
	switch kind := s.Type.(type) {
	case string:
		if kind == "array" && s.Items != nil {
			return "array of " + d.typeOf(*s.Items)
		}
		return kind
	case []any:
		return oneOf(kind)
	}
	if len(s.OneOf) > 0 {
		return d.typeOf(s.OneOf[0])
	}
	return "any"
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = fmt.Sprint(value)
	}
	return strings.Join(words, " | ")
}

// resolve returns what a reference names, or the value itself.
func resolve[T any](value T, ref string, among map[string]T) T {
	if ref == "" {
		return value
	}
	return among[ref[strings.LastIndexByte(ref, '/')+1:]]
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// block is a paragraph, or a list, of the document's descriptions.
type block struct {
	Runs  []run
	Items [][]run
}

// run is a piece of a sentence.
type run struct {
	Text       string
	Code, Bold bool
}

// blocks reads the little Markdown that the document uses: paragraphs, lists,
// code and bold.
func blocks(text string) (list []block) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(paragraph), "- ") {
			var items [][]run
			for _, item := range strings.Split("\n"+strings.TrimSpace(paragraph), "\n- ")[1:] {
				items = append(items, runs(strings.Join(strings.Fields(item), " ")))
			}
			list = append(list, block{Items: items})
			continue
		}
		list = append(list, block{Runs: runs(strings.Join(strings.Fields(paragraph), " "))})
	}
	return list
}

// runs divides a sentence by its marks.
func runs(text string) (list []run) {
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 1 {
			list = append(list, run{Text: piece, Code: true})
			continue
		}
		for j, part := range strings.Split(piece, "**") {
			if part != "" {
				list = append(list, run{Text: part, Bold: j%2 == 1})
			}
		}
	}
	return list
}

// indented returns an example for people; a text as it is.
func indented(example json.RawMessage) string {
	var text string
	if json.Unmarshal(example, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, example, "", "  ") != nil {
		return ""
	}
	return out.String()
}

// exampleCurl returns a line that calls an operation.
func exampleCurl(method, path string, body json.RawMessage, isForm bool) string {
	line := curlHead
	switch {
	case isForm:
		var parts map[string]string
		if json.Unmarshal(body, &parts) == nil {
			for _, name := range sortedKeys(parts) {
				value := name + "=" + parts[name]
				if name == "file" {
					value = "file=@engine.pdf"
				}
				line += " \\\n  -F " + shellQuoted(value)
			}
		}
	case len(body) > 0:
		if method != "POST" {
			line += " -X " + method
		}
		var compact bytes.Buffer
		if json.Compact(&compact, body) == nil {
			line += " \\\n  -H 'Content-Type: application/json' -d " + shellQuoted(compact.String())
		}
	case method != "GET":
		line += " -X " + method
	}
	return line + ` "$BRIDGE` + path + `"`
}

// The lines show what a page does as a call of the API. They take address and
// token from the environment, so that neither a secret nor a machine's name is
// copied along.
const curlHead = `curl -sS -H "Authorization: Bearer $BRIDGE_TOKEN"`

// curlGet returns a line that reads a path.
func curlGet(path string) string { return curlHead + ` "$BRIDGE` + path + `"` }

// curlPost returns a line that posts a body.
func curlPost(path string, body any, headers ...string) string {
	line := curlHead
	for _, header := range headers {
		line += " \\\n  -H " + shellQuoted(header)
	}
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return ""
		}
		line += " \\\n  -H 'Content-Type: application/json' -d " + shellQuoted(string(encoded))
	} else {
		line += " -X POST"
	}
	return line + ` "$BRIDGE` + path + `"`
}

// shellQuoted returns a text as one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func escapeQuery(text string) string { return url.QueryEscape(text) }

func historyPath(jid bridge.JID) string { return client.HistoryPath(jid) }
