package bridge

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// EncodeJSON returns v as JSON on one line, in which <, > and & stand as they
// are: no browser takes what is application/json and nosniff for a page.
func EncodeJSON(v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), err
}

// PageBytes bounds the JSON of the elements of one page, unless it has only one.
const PageBytes = 4 << 20

// textSize returns how many bytes a valid text takes as a JSON string.
func textSize(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= ' ' && c != '"' && c != '\\' && c != 0xE2:
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		case c == 0xE2: // of U+2028 and U+2029, which are escaped, and of others
			n += 3
		default:
			n += 5
		}
	}
	return n
}

// quotedSize bounds a Quoted, whose texts are short.
const quotedSize = 4500

// Size returns how many bytes m takes as JSON, at most, if the stored message is not yet
// read into Quoted.
func (m *Message) Size() int {
	n := jsonSize(reflect.ValueOf(m).Elem())
	if (m.Quoted == nil || m.Quoted.IsClaim()) && m.ContextInfo != nil && m.ContextInfo.QuotedMsgID != nil {
		n += quotedSize
	}
	return n
}

// Size returns how many bytes m takes as JSON, at most.
func (m *Match) Size() int { return jsonSize(reflect.ValueOf(m).Elem()) }

// Size returns how many bytes e takes as JSON, at most.
func (e *Event) Size() int {
	return jsonSize(reflect.ValueOf(e).Elem()) + len(`"changes":,`) + jsonSize(reflect.ValueOf(e.GroupChanges))
}

// jsonSize returns how many bytes a value takes as JSON, at most. It is several times
// faster than encoding it. The fields of a [Time] count more than its text has.
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
