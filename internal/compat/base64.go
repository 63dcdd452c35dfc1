package compat

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// cutFile returns the text of a member with a file in base64, with its escapes, and the object with an
// empty text instead. If there is no such member or the object is not valid, it returns nil and the body.
// The path of the member has dots between names.
func cutFile(body []byte, member string) (text, rest []byte) {
	path := "/" + strings.ReplaceAll(member, ".", "/")
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for d.InputOffset() <= intake.MaxBody { // the members before the file have at most that size
		depth := d.StackDepth()
		kind, length := d.StackIndex(depth)
		isValue := kind == '{' && length%2 == 1 && depth == strings.Count(path, "/")
		if isValue && d.PeekKind() == '"' && strings.EqualFold(string(d.StackPointer()), path) {
			value, err := d.ReadValue()
			if err != nil || isPlain(value[1:]) {
				break
			}
			end := int(d.InputOffset())
			if start := end - len(value); len(body)-len(value) <= intake.MaxBody {
				return value[1 : len(value)-1], slices.Concat(body[:start], []byte(`""`), body[end:])
			}
			break
		}
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return nil, body
}

// isPlain reports whether a text is no file: it is empty, or an address.
func isPlain(text []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(text[:min(len(text), 32)], " \t\r\n"))
	return len(head) == 0 || head[0] == '"' || bytes.HasPrefix(head, []byte("http:")) || bytes.HasPrefix(head, []byte("https:"))
}

// maxDataHead limits the part of a data: URI before its comma.
const maxDataHead = 256

// decodeBase64 returns a reader of the bytes of a text in base64, and the type if the text is a data:
// URI. Both alphabets are accepted, with or without padding, line breaks and JSON's escapes.
func decodeBase64(text []byte) (mimeType string, data io.Reader, err error) {
	if scheme := "data:"; len(text) >= len(scheme) && strings.EqualFold(string(text[:len(scheme)]), scheme) {
		comma := bytes.IndexByte(text[:min(len(text), maxDataHead)], ',')
		if comma < 0 {
			return "", nil, bridge.Invalid("the data: URI has no comma after its type")
		}
		head := strings.ToLower(strings.ReplaceAll(string(text[len(scheme):comma]), `\/`, "/"))
		typed, isBase64 := strings.CutSuffix(head, ";base64")
		if !isBase64 {
			return "", nil, bridge.Invalid("the data: URI must be in base64")
		}
		mimeType, text = typed, text[comma+1:]
	}
	return mimeType, decoder{base64.NewDecoder(base64.RawStdEncoding, &base64Text{rest: text})}, nil
}

// decoder returns the error of damaged base64 as a sentence for the caller.
type decoder struct{ io.Reader }

func (d decoder) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if _, damaged := errors.AsType[base64.CorruptInputError](err); damaged {
		err = bridge.Invalid("the file must be an http(s) address or base64, and is neither")
	}
	return n, err
}

// base64Text reads a text in base64 as the standard alphabet without padding.
type base64Text struct {
	rest   []byte
	padded bool
}

// Read implements io.Reader.
func (t *base64Text) Read(p []byte) (n int, err error) {
	for n < len(p) && len(t.rest) > 0 {
		char := t.rest[0]
		if char == '\\' {
			char = t.unescape()
		} else {
			t.rest = t.rest[1:]
		}
		switch {
		case char == ' ' || char == '\t' || char == '\r' || char == '\n':
			continue
		case char == '=':
			t.padded = true
			continue
		case t.padded:
			char = '=' // the decoder refuses it
		case char == '-':
			char = '+'
		case char == '_':
			char = '/'
		}
		p[n] = char
		n++
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// unescape removes an escape from the text and returns its character, or a question mark if it cannot be
// in base64.
func (t *base64Text) unescape() (char byte) {
	escape, size := string(t.rest[:min(len(t.rest), len(`\u002b`))]), 1
	value, _, tail, err := strconv.UnquoteChar(escape, '"')
	switch {
	case strings.HasPrefix(escape, `\/`):
		char, size = '/', len(`\/`)
	case err != nil || value > '~':
		char = '?'
	default:
		char, size = byte(value), len(escape)-len(tail)
	}
	t.rest = t.rest[size:]
	return char
}
