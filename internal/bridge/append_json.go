package bridge

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lists of messages and matches are most of what is read over HTTP. encoding/json takes
// two and a half times as long for them, and a page of a hundred a third longer in all:
// it reflects, and checks anew what types with a form of their own have written. So these
// append themselves; each byte is as [EncodeJSON] would write it.

// appendString appends a JSON string. HTML is not escaped.
func appendString(dst []byte, s string) []byte {
	if !isPlain(s) {
		text, _ := EncodeJSON(s) // which a string never fails
		return append(dst, text...)
	}
	return append(append(append(dst, '"'), s...), '"')
}

// isPlain reports whether a text stands in a JSON string as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.ValidString(s) && !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029")
}

// appendName appends the name of a member and its colon, behind a comma unless
// the object has just begun.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(append(dst, '"'), name...)
	return append(dst, '"', ':')
}

func appendStringField(dst []byte, name, value string) []byte {
	return appendString(appendName(dst, name), value)
}

func appendIntField(dst []byte, name string, value int64) []byte {
	return strconv.AppendInt(appendName(dst, name), value, 10)
}

func appendBoolField(dst []byte, name string, value bool) []byte {
	return strconv.AppendBool(appendName(dst, name), value)
}

func appendJIDField(dst []byte, name string, jid JID) []byte {
	return appendJID(appendName(dst, name), jid)
}

// appendJID appends a JID, the empty one as null.
func appendJID(dst []byte, jid JID) []byte {
	if jid == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, string(jid))
}

// appendTimeField appends a moment; nil is null.
func appendTimeField(dst []byte, name string, t *Time) []byte {
	dst = appendName(dst, name)
	if t == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	return append(t.UTC().AppendFormat(dst, timeLayout), '"')
}

// appendField appends any other value.
func appendField(dst []byte, name string, value any) ([]byte, error) {
	text, err := EncodeJSON(value)
	return append(appendName(dst, name), text...), err
}

// appendOptional appends a value that most messages do not have; nil is null.
func appendOptional[T any](dst []byte, name string, value *T) ([]byte, error) {
	if value == nil {
		return append(appendName(dst, name), "null"...), nil
	}
	return appendField(dst, name, value)
}

// appendTextOrNull appends a string that may not be there.
func appendTextOrNull(dst []byte, name string, text *string) []byte {
	if text == nil {
		return append(appendName(dst, name), "null"...)
	}
	return appendStringField(dst, name, *text)
}

// appendEach appends an array of what cannot fail to append itself; null for nil.
func appendEach[T any](dst []byte, items []T, appendItem func([]byte, T) []byte) []byte {
	if items == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendItem(dst, item)
	}
	return append(dst, ']')
}
