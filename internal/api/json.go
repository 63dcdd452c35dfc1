package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxDepth    = 32   // of objects and arrays in each other
	maxMembers  = 1000 // of one object
	maxElements = 1024 // of an array whose field has no max tag
)

// jsonReader reads one JSON object into a struct, more strictly than
// encoding/json does: names match exactly, none is given twice in an object
// (ignored ones included), and arrays, members and depth are bounded before
// they take memory. The field tag max bounds an array. Values without names in
// them are left to encoding/json.
//
// The text must be valid JSON and begin with its value, which keeps this short.
type jsonReader struct {
	strict   bool // refuses unknown names
	optional bool // there may be no text at all

	text  []byte
	at    int
	depth int
}

// into reads the text into the struct that v points to.
func (j *jsonReader) into(v any) error { return j.value(reflect.ValueOf(v).Elem(), "", maxElements) }

// value reads the next value into v. path names it, and most bounds an array.
func (j *jsonReader) value(v reflect.Value, path string, most int) error {
	if v.Kind() == reflect.Pointer && j.text[j.at] != 'n' {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	_, ownForm := v.Addr().Interface().(json.Unmarshaler)
	switch {
	case !ownForm && v.Kind() == reflect.Struct && j.text[j.at] == '{':
		return j.object(v, path)
	case !ownForm && v.Kind() == reflect.Slice && j.text[j.at] == '[':
		return j.array(v, path, most)
	}
	start := j.at
	if err := j.skip(path); err != nil {
		return err
	}
	var wrongType *json.UnmarshalTypeError
	err := json.Unmarshal(j.text[start:j.at], v.Addr().Interface())
	if errors.As(err, &wrongType) {
		return bridge.Invalid("%s must be %s", path, kindName(v.Kind()))
	}
	if err != nil {
		return bridge.Invalid("%s: %v", path, err)
	}
	return nil
}

func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// object reads the members of an object into the fields of a struct.
func (j *jsonReader) object(v reflect.Value, path string) error {
	fields := fieldsOf(v.Type())
	return j.members(path, func(name, path string) error {
		field, known := fields[name]
		switch {
		case known:
			return j.value(v.FieldByIndex(field.Index), path, limitOf(field))
		case j.strict:
			return bridge.Invalid("%s is not a field of this request", path)
		}
		return j.skip(path)
	})
}

// fieldsOf maps the JSON names of a struct's fields, of embedded structs too.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := make(map[string]reflect.StructField)
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = field
		}
	}
	return fields
}

// limitOf returns how many elements the array of a field may have.
func limitOf(field reflect.StructField) int {
	if most, err := strconv.Atoi(field.Tag.Get("max")); err == nil {
		return most
	}
	return maxElements
}

// array reads elements into a slice.
func (j *jsonReader) array(v reflect.Value, path string, most int) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return j.elements(path, func(i int) error {
		if i == most {
			return bridge.Invalid("%s must hold at most %d elements", path, most)
		}
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		return j.value(v.Index(i), path+"["+strconv.Itoa(i)+"]", maxElements)
	})
}

// skip passes over a value, in which no name may be given twice either.
func (j *jsonReader) skip(path string) error {
	switch j.text[j.at] {
	case '{':
		return j.members(path, func(_, path string) error { return j.skip(path) })
	case '[':
		return j.elements(path, func(int) error { return j.skip(path) })
	case '"':
		if !utf8.Valid(j.string()) {
			return bridge.Invalid("%s is not valid UTF-8", path)
		}
	default: // a number or a word
		n := bytes.IndexAny(j.text[j.at:], ",]} \t\r\n")
		if n < 0 {
			n = len(j.text) - j.at
		}
		j.at += n
	}
	return nil
}

// members calls read at the value of each member of an object, with its name
// and path.
func (j *jsonReader) members(path string, read func(name, path string) error) error {
	seen := make(map[string]bool)
	return j.items(path, '}', func(int) error {
		name := j.name()
		at := memberPath(path, name)
		switch {
		case !utf8.ValidString(name):
			return bridge.Invalid("%s has a name that is not valid UTF-8", orBody(path))
		case seen[name]:
			return bridge.Invalid("%s is given twice", at)
		case len(seen) == maxMembers:
			return bridge.Invalid("%s has more than %d members", orBody(path), maxMembers)
		}
		seen[name] = true
		j.space()
		j.at++ // the colon
		j.space()
		return read(name, at)
	})
}

// elements calls read at each element of an array.
func (j *jsonReader) elements(path string, read func(i int) error) error {
	return j.items(path, ']', read)
}

// items calls read at each item of the object or array that begins here.
func (j *jsonReader) items(path string, end byte, read func(i int) error) error {
	if j.depth == maxDepth {
		return bridge.Invalid("%s nests deeper than %d levels", orBody(path), maxDepth)
	}
	j.depth++
	defer func() { j.depth-- }()
	j.at++ // the bracket
	for i := 0; ; i++ {
		j.space()
		if j.text[j.at] == end {
			j.at++
			return nil
		}
		if i > 0 {
			j.at++ // the comma
			j.space()
		}
		if err := read(i); err != nil {
			return err
		}
	}
}

func (j *jsonReader) space() {
	for strings.IndexByte(" \t\r\n", j.text[j.at]) >= 0 {
		j.at++
	}
}

// name returns the string that begins here, without quotes and escapes.
func (j *jsonReader) name() string {
	raw := j.string()
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		panic("api: a string of valid JSON is not valid: " + err.Error())
	}
	return name
}

// string passes over the string that begins here and returns it, quoted.
func (j *jsonReader) string() []byte {
	start := j.at
	for j.at++; j.text[j.at] != '"'; j.at++ {
		if j.text[j.at] == '\\' {
			j.at++
		}
	}
	j.at++
	return j.text[start:j.at]
}

// memberPath names a member in sentences. What callers chose is shown in part,
// and quoted where it is no plain word.
func memberPath(path, name string) string {
	const most = 64
	text := name
	if len(name) > most {
		text = strings.ToValidUTF8(name[:most], "") + "…"
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool {
		return r != '…' && r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		text = strconv.Quote(text)
	}
	if path == "" {
		return text
	}
	if len(path) > 4*most {
		path = "…"
	}
	return path + "." + text
}

func orBody(path string) string {
	if path == "" {
		return "the body"
	}
	return path
}
