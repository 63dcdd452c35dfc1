package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// maxBody is the size of the largest request body.
const maxBody = 1 << 20

// decode reads the body, a JSON object, into v. It answers the raw bytes too,
// which is what an Idempotency-Key is bound to.
func decode(w http.ResponseWriter, r *http.Request, v any) ([]byte, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, bridge.Invalid("the body is empty; it must be a JSON object")
	}
	return body, unmarshal(body, v)
}

// decodeOptional is decode where the body may be left out.
func decodeOptional(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := readBody(w, r)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	return unmarshal(body, v)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkContentType(r); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		bodyRead(w)
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, bridge.Fail(bridge.CodePayloadTooLarge, "the body is larger than 1 MiB")
	case errors.Is(err, os.ErrDeadlineExceeded): // which ends the context too
		return nil, bridge.Invalid("the body did not arrive in time").Because(err)
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	default:
		return nil, bridge.Invalid("the body could not be read to its end").Because(err)
	}
}

// checkContentType lets a missing type pass, as curl users forget it.
func checkContentType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(header)
	isJSON := mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json")
	if err != nil || !isJSON {
		return bridge.Invalid("Content-Type must be application/json")
	}
	if charset, given := params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return bridge.Invalid("Content-Type: the charset of JSON is utf-8")
	}
	return nil
}

func unmarshal(body []byte, v any) error {
	if !utf8.Valid(body) {
		return bridge.Invalid("%s is not valid UTF-8", invalidField(body))
	}
	err := json.Unmarshal(body, v)
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil && bytes.TrimLeft(body, " \t\r\n")[0] != '{': // null fits everything
		return bridge.Invalid("the body must be a JSON object")
	case err == nil:
		return nil
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return bridge.Invalid("the body must be a JSON object")
	case errors.As(err, &wrongType):
		return bridge.Invalid("%s", wrongTypeSentence(wrongType, v))
	case json.NewDecoder(bytes.NewReader(body)).Decode(new(json.RawMessage)) == nil:
		return bridge.Invalid("there is something after the JSON object")
	default:
		return bridge.Invalid("the body is not valid JSON: %v", err)
	}
}

// invalidField names the member of the body that is not UTF-8.
func invalidField(body []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return "the body"
	}
	var faulty []string
	for name, raw := range members {
		if !utf8.Valid(raw) {
			faulty = append(faulty, name)
		}
	}
	if len(faulty) == 0 {
		return "the body"
	}
	return slices.Min(faulty)
}

// wrongTypeSentence says which field must be what.
func wrongTypeSentence(e *json.UnmarshalTypeError, v any) string {
	wanted := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false",
		reflect.Int: "an integer", reflect.Float64: "a number",
		reflect.Slice: "an array", reflect.Struct: "an object",
	}[e.Type.Kind()]
	if e.Type.Kind() != reflect.Slice && isArray(reflect.TypeOf(v), strings.Split(e.Field, ".")) {
		return "every element of " + e.Field + " must be " + wanted
	}
	return e.Field + " must be " + wanted
}

// isArray says whether the JSON path leads to an array. Embedded structs are
// looked into as encoding/json does.
func isArray(t reflect.Type, path []string) bool {
	for t.Kind() == reflect.Pointer || (t.Kind() == reflect.Slice && len(path) > 0) {
		t = t.Elem()
	}
	if len(path) == 0 {
		return t.Kind() == reflect.Slice
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if strings.EqualFold(name, path[0]) {
			return isArray(field.Type, path[1:])
		}
	}
	return false
}
