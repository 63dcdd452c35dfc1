package fleet

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// The limits of a request's envelope.
const (
	maxPath       = 8 << 10
	maxHeaders    = 32
	maxHeader     = 8 << 10
	maxFormFields = 16
	maxObjectName = 256

	usualTimeout = 2 * time.Minute
	minTimeout   = time.Second
	maxTimeout   = 5 * time.Minute
)

// envelope is a request as it comes over NATS. Of body, bodyBase64 and form
// there is one at most.
type envelope struct {
	method  string
	path    string // as it was written
	route   string // the path without its query and its escapes
	query   url.Values
	headers http.Header
	body    []byte // nil for none
	form    map[string]string
	file    *fileIn // of a form
	timeout time.Duration
}

// fileIn names an object of the files' bucket, and how it is sent.
type fileIn struct {
	object      string
	fileName    string
	contentType string
}

// methods are those that routes have.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// ofTheConnection are headers that mean something on an HTTP connection alone.
var ofTheConnection = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Expect", "Te", "Trailer", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection"}

// readEnvelope reads a request. Its errors have [CodeInvalidEnvelope] and name
// the field.
func readEnvelope(data []byte) (*envelope, error) {
	e := &envelope{headers: make(http.Header), timeout: usualTimeout}
	err := eachMember(data, "the envelope", map[string]func(json.RawMessage) error{
		"method":     e.readMethod,
		"path":       e.readPath,
		"headers":    e.readHeaders,
		"body":       e.readBody,
		"bodyBase64": e.readBase64,
		"form":       e.readForm,
		"file":       e.readFile,
		"timeout":    e.readTimeout,
	})
	switch {
	case err != nil:
		return nil, err
	case e.method == "":
		return nil, invalidEnvelope("method is required, such as GET")
	case e.path == "":
		return nil, invalidEnvelope("path is required, such as /api/chats?limit=10")
	case e.body != nil && e.form != nil:
		return nil, invalidEnvelope("body and form exclude each other")
	case e.file != nil && e.form == nil:
		return nil, invalidEnvelope(`file needs form, the other fields of the request, such as {"jid": "15551234567@s.whatsapp.net"}`)
	}
	return e, nil
}

func (e *envelope) readMethod(value json.RawMessage) (err error) {
	if e.method, err = text(value, "method", 16); err == nil && !slices.Contains(methods, e.method) {
		return invalidEnvelope("method must be %s", strings.Join(methods, ", "))
	}
	return err
}

func (e *envelope) readPath(value json.RawMessage) error {
	path, err := text(value, "path", maxPath)
	if err != nil {
		return err
	}
	at, err := url.ParseRequestURI(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, "#") || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return invalidEnvelope("path must be a path with its query, such as /api/chats?limit=10")
	}
	e.path, e.route, e.query = path, at.Path, at.Query()
	return nil
}

func (e *envelope) readHeaders(value json.RawMessage) error {
	return eachPair(value, "headers", maxHeaders, maxHeader, func(name, value string) error {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return invalidEnvelope("headers has a name that is no header's")
		case slices.Contains(ofTheConnection, canonical):
			return invalidEnvelope("headers.%s belongs to HTTP connections: leave it out", canonical)
		case e.headers.Values(canonical) != nil:
			return invalidEnvelope("headers.%s is given twice", canonical)
		case !httpguts.ValidHeaderFieldValue(value):
			return invalidEnvelope("headers.%s must not hold line breaks or other control characters", canonical)
		}
		e.headers.Set(canonical, value)
		return nil
	})
}

// readBody takes an object or a list as it is, and a string for what it says.
func (e *envelope) readBody(value json.RawMessage) error {
	if value[0] == '{' || value[0] == '[' {
		return e.setBody(value)
	}
	var body string
	if value[0] != '"' || json.Unmarshal(value, &body) != nil {
		return invalidEnvelope("body must be an object, a list or a string; other bytes go into bodyBase64")
	}
	return e.setBody([]byte(body))
}

func (e *envelope) readBase64(value json.RawMessage) error {
	encoded, err := text(value, "bodyBase64", len(value))
	if err != nil {
		return err
	}
	body, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return invalidEnvelope("bodyBase64 must be base64 with + and /, and padding")
	}
	return e.setBody(body)
}

func (e *envelope) setBody(body []byte) error {
	if e.body != nil {
		return invalidEnvelope("body and bodyBase64 exclude each other")
	}
	e.body = append([]byte{}, body...)
	return nil
}

func (e *envelope) readForm(value json.RawMessage) error {
	e.form = make(map[string]string)
	return eachPair(value, "form", maxFormFields, len(value), func(name, value string) error {
		if _, twice := e.form[name]; twice {
			return invalidEnvelope("form.%s is given twice", shown(name))
		}
		e.form[name] = value
		return nil
	})
}

func (e *envelope) readFile(value json.RawMessage) error {
	e.file = new(fileIn)
	into := func(field *string, name string) func(json.RawMessage) error {
		return func(value json.RawMessage) (err error) {
			*field, err = text(value, "file."+name, maxObjectName)
			return err
		}
	}
	err := eachMember(value, "file", map[string]func(json.RawMessage) error{
		"name": into(&e.file.object, "name"), "fileName": into(&e.file.fileName, "fileName"), "contentType": into(&e.file.contentType, "contentType"),
	})
	if err == nil && e.file.object == "" {
		return invalidEnvelope("file.name is required: the object's name in the bucket of files")
	}
	if _, _, bad := mime.ParseMediaType(e.file.contentType); err == nil && e.file.contentType != "" && bad != nil {
		return invalidEnvelope("file.contentType must be a media type, such as image/png")
	}
	return err
}

func (e *envelope) readTimeout(value json.RawMessage) error {
	written, err := text(value, "timeout", 32)
	if err != nil {
		return err
	}
	e.timeout, err = time.ParseDuration(written)
	if err != nil || e.timeout < minTimeout || e.timeout > maxTimeout {
		return invalidEnvelope("timeout must be %v to %v, such as 30s", minTimeout, maxTimeout)
	}
	return nil
}
