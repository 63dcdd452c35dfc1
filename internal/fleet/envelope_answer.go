package fleet

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// answer is what goes back over NATS. Of body, bodyBase64 and file there is one
// at most: JSON as it is, text as a string, other bytes in base64, and what is
// too large for a message as the name of an object.
type answer struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       json.RawMessage   `json:"body,omitempty"`
	BodyBase64 string            `json:"bodyBase64,omitempty"`
	File       *fileOut          `json:"file,omitempty"`

	code bridge.Code // of a refusal of this door's own
}

// fileOut names the object that holds an answer's body.
type fileOut struct {
	Bucket string `json:"bucket"`
	Name   string `json:"name"`
	Size   uint64 `json:"size"`
	Digest string `json:"digest"`
}

// answerOf returns the head of an answer.
func answerOf(resp *http.Response) *answer {
	a := &answer{Status: resp.StatusCode, Headers: make(map[string]string, len(resp.Header))}
	for name, values := range resp.Header {
		if name != "Content-Length" && name != "Connection" {
			a.Headers[name] = strings.Join(values, ", ")
		}
	}
	return a
}

// within returns the whole answer as a message, or nil if it is larger than
// limit. What was read of the body is returned in any case.
func (a *answer) within(limit int, body io.Reader) (message, begun []byte, err error) {
	begun, err = io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if err != nil || len(begun) > limit {
		return nil, begun, err
	}
	a.setBody(begun)
	message, err = bridge.EncodeJSON(a)
	if err == nil && len(message) > limit {
		a.Body, a.BodyBase64, message = nil, "", nil
	}
	return message, begun, err
}

func (a *answer) setBody(body []byte) {
	mediaType, _, _ := mime.ParseMediaType(a.Headers["Content-Type"])
	switch {
	case len(body) == 0:
	case mediaType == jsonType && json.Valid(body):
		a.Body = bytes.TrimSpace(body)
	case isText(mediaType) && utf8.Valid(body):
		quoted, err := bridge.EncodeJSON(string(body))
		if err != nil {
			panic(fmt.Sprintf("fleet: a text cannot be encoded: %v", err))
		}
		a.Body = quoted
	default:
		a.BodyBase64 = base64.StdEncoding.EncodeToString(body)
	}
}

func isText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || mediaType == "application/yaml"
}
