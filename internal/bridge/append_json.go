package bridge

import (
	"strconv"
	"unicode/utf8"
)

// Lists of messages and matches are most of what is read over HTTP, and
// encoding/json spends a third of such an answer on reflection and on checking
// what types with a form of their own have written. So these append themselves;
// each byte is as [EncodeJSON] would write it.

// appendString appends a JSON string. HTML is not escaped.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if size = n; (r != utf8.RuneError || n > 1) && r != '\u2028' && r != '\u2029' {
				i += n
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscaped(dst, s[i:i+size])
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends what cannot stand in a JSON string as it is: a control
// character, a quote, a backslash, a line separator, or a byte that is not UTF-8.
func appendEscaped(dst []byte, s string) []byte {
	switch s {
	case `"`, `\`:
		return append(dst, '\\', s[0])
	case "\b":
		return append(dst, `\b`...)
	case "\f":
		return append(dst, `\f`...)
	case "\n":
		return append(dst, `\n`...)
	case "\r":
		return append(dst, `\r`...)
	case "\t":
		return append(dst, `\t`...)
	case "\u2028", "\u2029":
		return append(append(dst, `\u202`...), hexDigits[s[2]&0xf])
	}
	if s[0] >= utf8.RuneSelf {
		return append(dst, `\ufffd`...)
	}
	return append(append(dst, `\u00`...), hexDigits[s[0]>>4], hexDigits[s[0]&0xf])
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

// AppendList appends a JSON array of values that append themselves; never null.
func AppendList[T any](dst []byte, items []T, appendItem func([]byte, *T) ([]byte, error)) ([]byte, error) {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendItem(dst, &items[i]); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}
