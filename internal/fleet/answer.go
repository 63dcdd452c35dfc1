package fleet

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// These are the error codes of requests that did not reach the API. All other codes come from the
// API.
const (
	CodeInvalidEnvelope  bridge.Code = "invalid_envelope"
	CodeNotOverNATS      bridge.Code = "not_over_nats"
	CodeFileNotFound     bridge.Code = "file_not_found"
	CodeTooManyRequests  bridge.Code = "too_many_requests"
	CodeFilesUnavailable bridge.Code = "files_unavailable"
	CodeRequestTimeout   bridge.Code = "request_timeout"
)

// statuses maps the codes to HTTP's statuses.
var statuses = map[bridge.Code]int{
	CodeInvalidEnvelope:  http.StatusBadRequest,
	CodeNotOverNATS:      http.StatusBadRequest,
	CodeFileNotFound:     http.StatusNotFound,
	CodeTooManyRequests:  http.StatusTooManyRequests,
	CodeFilesUnavailable: http.StatusServiceUnavailable,
	CodeRequestTimeout:   http.StatusGatewayTimeout,
}

// answer is the response that is sent over NATS. It has at most one of body (JSON as it is, text
// as a string), bodyBase64 (other bytes) and file (the name of an object with a body that is too
// large for a message).
type answer struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       json.RawMessage   `json:"body,omitempty"`
	BodyBase64 string            `json:"bodyBase64,omitempty"`
	File       *fileOut          `json:"file,omitempty"`

	code    bridge.Code // of an error before the API
	message []byte      // the encoded answer, if it was encoded already
}

// fileOut names the object that holds an answer's body.
type fileOut struct {
	Bucket string `json:"bucket"`
	Name   string `json:"name"`
	Size   uint64 `json:"size"`
	Digest string `json:"digest"`
}

func newAnswer(resp *http.Response) *answer {
	a := &answer{Status: resp.StatusCode, Headers: make(map[string]string, len(resp.Header))}
	for name, values := range resp.Header {
		if name != "Content-Length" && name != "Connection" {
			a.Headers[name] = strings.Join(values, ", ")
		}
	}
	return a
}

// fits sets the body and encodes the answer. It returns false, and leaves the body out, if the
// message would be larger than limit bytes.
func (a *answer) fits(body []byte, limit int) bool {
	a.setBody(body)
	if a.message = encoded(a); len(a.message) > limit {
		a.Body, a.BodyBase64, a.message = nil, "", nil
	}
	return a.message != nil
}

func (a *answer) setBody(body []byte) {
	mediaType, _, _ := mime.ParseMediaType(a.Headers["Content-Type"])
	switch {
	case len(body) == 0:
	case mediaType == jsonType && json.Valid(body):
		a.Body = bytes.TrimSpace(body)
	case isText(mediaType) && utf8.Valid(body):
		a.Body = encoded(string(body))
	default:
		a.BodyBase64 = base64.StdEncoding.EncodeToString(body)
	}
}

func isText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || mediaType == "application/yaml"
}

// refusal returns the answer for an error, in the form of the API's errors.
func refusal(err error) *answer {
	e, status := bridge.Fail(bridge.CodeInternal, "an error occurred within the service; its log has the details"), http.StatusInternalServerError
	if known, ok := errors.AsType[*bridge.Error](err); ok && statuses[known.Code] != 0 {
		e, status = known, statuses[known.Code]
	}
	return &answer{Status: status, Headers: map[string]string{"Content-Type": jsonType}, Body: encoded(map[string]any{"error": e.Msg, "code": e.Code}), code: e.Code}
}

// encoded returns the JSON of v. It panics if v cannot be encoded.
func encoded(v any) []byte {
	data, err := bridge.EncodeJSON(v)
	if err != nil {
		panic("fleet: an answer cannot be encoded: " + err.Error())
	}
	return data
}
