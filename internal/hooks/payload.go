package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"bridged/internal/bridge"
)

const (
	maxValues = 50_000 // in a payload
	maxDepth  = 32     // nesting of its objects and lists
)

// Payload parses a body: JSON, a form (its field payload, as code hosts send it, or all fields)
// or text. Its errors are [bridge.CodeInvalid].
func (t *Template) Payload(header http.Header, body []byte) (any, error) {
	kind, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	body = toUTF8(body, parameters["charset"])
	switch {
	case t.TakesText():
		return textPayload(body), nil
	case err == nil && strings.HasPrefix(kind, "multipart/"):
		return nil, bridge.Invalid("Content-Type: send JSON, not %s", kind)
	case kind == "application/x-www-form-urlencoded":
		return formPayload(body, parameters["charset"])
	case kind == "application/json", strings.HasSuffix(kind, "+json"), kind == "text/json":
		return JSONPayload(body)
	}
	if text := bytes.TrimSpace(body); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return JSONPayload(body)
	}
	return textPayload(body), nil
}

// toUTF8 decodes a text in the character set that its sender declares, or that a byte order mark
// indicates, and removes the mark. Valid UTF-8 stays as it is, because senders declare other sets
// by mistake. So does text in an unknown set.
func toUTF8(text []byte, declared string) []byte {
	set, name := charset.Lookup(declared)
	switch isWide := strings.HasPrefix(name, "utf-16"); {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return text[3:]
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		set, _ = charset.Lookup("utf-16be")
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		set, _ = charset.Lookup("utf-16le")
	case set == nil, !isWide && utf8.Valid(text) && bytes.IndexByte(text, 0x1B) < 0: // ISO 2022 has escapes
		return text
	}
	decoded, err := set.NewDecoder().Bytes(text)
	if err != nil {
		return text
	}
	return bytes.TrimPrefix(decoded, []byte("\uFEFF"))
}

func textPayload(body []byte) string { return strings.ToValidUTF8(string(body), "\uFFFD") }

// formPayload parses a form. If no field has a value, the body is text that was sent as a form by
// accident, as curl does.
func formPayload(body []byte, declared string) (any, error) {
	if fields := bytes.Count(body, []byte("&")); fields > maxValues/10 {
		return nil, bridge.Invalid("the body has more than %d fields", maxValues/10)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || !bytes.Contains(body, []byte("=")) {
		return textPayload(body), nil
	}
	if form.Has("payload") {
		return JSONPayload(toUTF8([]byte(form.Get("payload")), declared))
	}
	fields := make(map[string]any, len(form))
	for name := range form {
		fields[textPayload(toUTF8([]byte(name), declared))] = textPayload(toUTF8([]byte(form.Get(name)), declared))
	}
	return fields, nil
}

// JSONPayload parses a JSON payload. Contrary to RFC 8259 (section 7), it accepts line breaks and
// other control characters in strings, because scripts paste texts into JSON.
func JSONPayload(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(escapeControls(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))))
	decoder.UseNumber()
	r := payloadReader{decoder, maxValues}
	value, err := r.value(0)
	if err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			err = bridge.Invalid("the payload must be one JSON value, with nothing after it")
		}
	}
	if err != nil && bridge.CodeOf(err) != bridge.CodeInvalid {
		err = bridge.Invalid("the payload is not valid JSON: %v", err)
	}
	return value, err
}

// escapeControls escapes the control characters in the strings of JSON.
func escapeControls(text []byte) []byte {
	var escaped []byte
	inString, done := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\' && inString && i+1 < len(text) && text[i+1] >= ' ':
			i++
		case c < ' ' && inString:
			escaped = fmt.Appendf(append(escaped, text[done:i]...), `\u%04x`, c)
			done = i + 1
		}
	}
	if done == 0 {
		return text
	}
	return append(escaped, text[done:]...)
}

// payloadReader parses JSON into values for templates. It limits their number: a megabyte of
// small values takes a hundred megabytes of memory.
type payloadReader struct {
	*json.Decoder
	left int
}

func (r *payloadReader) value(depth int) (any, error) {
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	if r.left--; r.left < 0 {
		return nil, bridge.Invalid("the payload has more than %d values", maxValues)
	}
	if depth > maxDepth {
		return nil, bridge.Invalid("the payload nests deeper than %d levels", maxDepth)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return r.list(depth)
		}
		return r.object(depth)
	case json.Number:
		return numberOf(token), nil
	}
	return token, nil // a string, true, false or null
}

func (r *payloadReader) list(depth int) (any, error) {
	list := []any{}
	for r.More() {
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := r.Token()
	return list, err
}

func (r *payloadReader) object(depth int) (any, error) {
	object := map[string]any{}
	for r.More() {
		name, err := r.Token()
		if err != nil {
			return nil, err
		}
		if object[name.(string)], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := r.Token()
	return object, err
}

// numberOf returns a number that is printed as it was written, if it is an integer.
func numberOf(n json.Number) any {
	if whole, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return whole
	}
	if float, err := n.Float64(); err == nil {
		return float
	}
	return n.String()
}
