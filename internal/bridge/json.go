package bridge

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// EncodeJSON returns v as JSON on one line. It does not escape <, > and &, because no browser
// treats application/json with nosniff as a page.
func EncodeJSON(v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), err
}

// PageBytes limits the JSON of the elements of one page, unless it has only one element.
const PageBytes = 4 << 20

// textSize returns the size of a valid text as a JSON string, in bytes.
func textSize(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= ' ' && c != '"' && c != '\\' && c != 0xE2:
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		case c == 0xE2: // the first byte of U+2028 and U+2029, which are escaped, and of others
			n += 3
		default:
			n += 5
		}
	}
	return n
}

// quotedSize is the maximum size of a Quoted. Its texts are short.
const quotedSize = 4500

// Size returns the maximum size of m as JSON in bytes, including a Quoted that is not read yet.
func (m *Message) Size() int {
	n := jsonSize(reflect.ValueOf(m).Elem())
	if (m.Quoted == nil || m.Quoted.IsClaim()) && m.ContextInfo != nil && m.ContextInfo.QuotedMsgID != nil {
		n += quotedSize
	}
	return n
}

// Size returns the maximum size of m as JSON in bytes.
func (m *Match) Size() int { return jsonSize(reflect.ValueOf(m).Elem()) }

// Size returns the maximum size of e as JSON in bytes.
func (e *Event) Size() int { return jsonSize(reflect.ValueOf(e).Elem()) }

// jsonSize returns the maximum size of a value as JSON in bytes. It is several times faster than
// encoding the value. The fields of a [Time] count as more than its text has.
func jsonSize(v reflect.Value) int {
	switch v.Kind() {
	case reflect.String:
		return textSize(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			return len("null")
		}
		return jsonSize(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON
			return v.Len() + len("null")
		}
		n := len("null")
		for i := range v.Len() {
			n += jsonSize(v.Index(i)) + 1
		}
		return n
	case reflect.Struct:
		n := len("{}")
		for _, f := range fieldsOf(v.Type()) {
			if f.nameSize > 0 {
				n += f.nameSize + jsonSize(v.Field(f.index))
			}
		}
		return n
	}
	return len("-1.7976931348623157e+308")
}

// NotNil returns a list, or an empty one for nil, so that JSON has [] instead of null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// OrNil returns a text, or nil if it is empty.
func OrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// SetIf sets a field unless the value is nil.
func SetIf[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
