package front

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"bridged/internal/bridge"
)

// The limits of a body in JSON. They are checked before it is decoded into memory.
const (
	maxDepth    = 32   // of nested objects and arrays
	maxMembers  = 1000 // of one object
	maxElements = 1024 // of one array
	maxName     = 1000 // bytes of the name of a member
	// maxTokens limits the names, values and ends of objects and arrays in the whole body, because the
	// two bytes of an empty object may become a struct of hundreds.
	maxTokens = 20_000
)

// decodeJSON reads one JSON object into the struct that v points to, more strictly than encoding/json:
// names must match exactly, and no name may occur twice in an object, even if it is ignored. If
// strict, names that v does not have are refused.
func decodeJSON(body []byte, v any, strict bool) error {
	return decodeWith(body, v, json.RejectUnknownMembers(strict))
}

// DecodeForeign reads a JSON object from a client of another API, within the same limits as bodies of
// this API. Names match in any case, and unknown ones are ignored.
func DecodeForeign(body []byte, v any) error {
	return decodeWith(body, v, json.MatchCaseInsensitiveNames(true))
}

// CheckForeign refuses a text that is not one JSON value within the limits of a body. It is for JSON
// that a client sends as a string inside its body.
func CheckForeign(text []byte) error {
	return faultOf(text, checkBounds(text, false))
}

func decodeWith(body []byte, v any, how json.Options) error {
	err := checkBounds(body, true)
	if err == nil {
		err = json.Unmarshal(body, v, how, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	}
	return faultOf(body, err)
}

// faultOf returns the error of a body as a sentence for its sender.
func faultOf(body []byte, err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	known, isKnown := errors.AsType[*bridge.Error](err)
	switch {
	case isKnown: // from a type's own UnmarshalJSON
		return known
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return bridge.Invalid("%s is not a field of this request", pathOf(semantic.JSONPointer))
	case errors.As(err, &semantic):
		return bridge.Invalid("%s must be %s", pathOf(semantic.JSONPointer), kindName(semantic.GoType))
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return bridge.Invalid("%s is given twice", pathOf(syntactic.JSONPointer))
	case errors.As(err, &syntactic) && !utf8.Valid(body):
		return bridge.Invalid("%s is not valid UTF-8", pathOf(syntactic.JSONPointer))
	case errors.As(err, &syntactic):
		return bridge.Invalid("the body is not valid JSON: %v at byte %d", syntactic.Err, syntactic.ByteOffset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return bridge.Invalid("the body is not valid JSON: it ends too early")
	}
	return err
}

// checkBounds reads a text token by token and refuses anything except one JSON value within the
// limits. If isObject, the value must be an object.
func checkBounds(body []byte, isObject bool) error {
	// Half a surrogate pair is allowed, because clients cut texts there. Invalid UTF-8 is not.
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(utf8.Valid(body)))
	if kind := d.PeekKind(); isObject && kind != 0 && kind != '{' {
		return bridge.Invalid("the body must be a JSON object")
	}
	for tokens := 1; ; tokens++ {
		before := d.InputOffset()
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if tokens > maxTokens {
			return bridge.Invalid("the body has more than %d names, values, and ends of objects and arrays", maxTokens)
		}
		depth := d.StackDepth()
		kind, length := d.StackIndex(depth)
		switch {
		case depth == 0:
			if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
				return bridge.Invalid("the body must be one JSON object, with nothing after it")
			}
			return nil
		case kind == '{' && length%2 == 1 && d.InputOffset()-before > maxName && len(token.String()) > maxName:
			return bridge.Invalid("a name in the body has more than %d bytes", maxName)
		case depth > maxDepth:
			return bridge.Invalid("the body nests deeper than %d levels", maxDepth)
		case kind == '{' && length > 2*maxMembers: // with their names
			return bridge.Invalid("%s has more than %d members", pathOf(d.StackPointer().Parent()), maxMembers)
		case kind == '[' && length > maxElements:
			return bridge.Invalid("%s must hold at most %d elements", pathOf(d.StackPointer().Parent()), maxElements)
		}
	}
}

func kindName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Uint32:
		return "an integer of 0 or more"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// pathOf returns the name of a value in a body, such as contacts[1].phone. Names that callers chose
// are shortened, and quoted if they have unusual characters.
func pathOf(pointer jsontext.Pointer) string {
	const most = 64
	path := ""
	for name := range pointer.Tokens() {
		if len(path) > 4*most {
			path = "…"
		}
		if _, err := strconv.Atoi(name); err == nil && path != "" {
			path += "[" + name + "]"
			continue
		}
		name = Shortened(name, most)
		isUnusual := func(r rune) bool {
			return !strings.ContainsRune("…_-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}
		if name == "" || strings.ContainsFunc(name, isUnusual) {
			name = strconv.Quote(name)
		}
		if path != "" {
			path += "."
		}
		path += name
	}
	if path == "" {
		return "the body"
	}
	return path
}
