package front

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxUnknown limits how many unknown names of a body are returned.
const maxUnknown = 20

// IsStrict reports whether a request asks for unknown names to be refused (RFC 7240).
func IsStrict(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Prefer"), ",")), "handling=strict")
}

// UnknownNames returns the names in a JSON object that the struct to which v points does not have,
// such as contacts[1].fone, in their order and at most 20. The body must be one that [Bodies.Decode]
// has decoded into v.
func UnknownNames(body []byte, v any) []string {
	u := unknownNames{d: jsontext.NewDecoder(strings.NewReader(string(body)), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))}
	_ = u.read(reflect.TypeOf(v)) // Decode has read the whole body
	return u.found
}

type unknownNames struct {
	d     *jsontext.Decoder
	found []string
}

// read reads a value that was decoded into a type.
func (u *unknownNames) read(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind := u.d.PeekKind()
	isOpaque := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch {
	case !isOpaque && kind == '{' && t.Kind() == reflect.Struct:
		return u.object(fieldsOf(t))
	case !isOpaque && kind == '[' && t.Kind() == reflect.Slice:
		return u.array(t.Elem())
	}
	return u.d.SkipValue()
}

func (u *unknownNames) object(fields map[string]reflect.Type) error {
	if _, err := u.d.ReadToken(); err != nil {
		return err
	}
	for u.d.PeekKind() == '"' {
		name, err := u.d.ReadToken()
		if err != nil {
			return err
		}
		if field, isKnown := fields[name.String()]; isKnown {
			err = u.read(field)
		} else {
			if len(u.found) < maxUnknown {
				u.found = append(u.found, pathOf(u.d.StackPointer()))
			}
			err = u.d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := u.d.ReadToken()
	return err
}

func (u *unknownNames) array(element reflect.Type) error {
	if _, err := u.d.ReadToken(); err != nil {
		return err
	}
	for kind := u.d.PeekKind(); kind != ']' && kind != 0; kind = u.d.PeekKind() {
		if err := u.read(element); err != nil {
			return err
		}
	}
	_, err := u.d.ReadToken()
	return err
}

// fieldsOf returns the types of the fields of a struct, and of the structs that it embeds, by their names
// in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			maps.Copy(fields, fieldsOf(field.Type))
		case name != "" && name != "-":
			fields[name] = field.Type
		}
	}
	return fields
}
