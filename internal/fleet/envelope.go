package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/http/httpguts"

	"bridged/internal/bridge"
)

// These are the limits of a request's envelope.
const (
	maxPath       = 8 << 10
	maxHeaders    = 32
	maxHeader     = 8 << 10
	maxFormFields = 16
	maxFileField  = 256

	defaultTimeout = 2 * time.Minute
	minTimeout     = time.Second
	maxTimeout     = 5 * time.Minute
)

// envelope is a request as it is received over NATS. It has at most one of body, bodyBase64 and
// form.
type envelope struct {
	Method     string            `json:"method"`
	Path       string            `json:"path"` // with the query, escaped
	Headers    map[string]string `json:"headers"`
	Body       jsontext.Value    `json:"body"`
	BodyBase64 []byte            `json:"bodyBase64"`
	Form       map[string]string `json:"form"`
	File       *fileIn           `json:"file"` // for the form
	Timeout    string            `json:"timeout"`

	// These are parsed from the fields above.
	url     *url.URL
	header  http.Header
	body    []byte // nil for no body
	timeout time.Duration
}

// fileIn names an object of the files bucket, and how to send it in the form.
type fileIn struct {
	Name        string `json:"name"`
	FileName    string `json:"fileName"`
	ContentType string `json:"contentType"`
}

var (
	methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

	// connectionHeaders only have a meaning on an HTTP connection.
	connectionHeaders = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Expect", "Te", "Trailer", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection"}
)

// readEnvelope parses a request. Its errors have [CodeInvalidEnvelope] and name the field.
func readEnvelope(data []byte) (*envelope, error) {
	if jsontext.Value(data).Kind() != '{' {
		return nil, invalidEnvelope("the envelope must be a JSON object")
	}
	e := &envelope{}
	if err := json.Unmarshal(data, e, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, unreadable(err)
	}
	for _, read := range []func() error{e.readMethod, e.readPath, e.readHeaders, e.readBody, e.readForm, e.readTimeout} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func invalidEnvelope(format string, args ...any) *bridge.Error {
	return bridge.Fail(CodeInvalidEnvelope, format, args...)
}

// unreadable returns the error for JSON that is not an envelope.
func unreadable(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return invalidEnvelope("the envelope has no field %s", shownPath(semantic.JSONPointer))
	case errors.As(err, &semantic):
		kind := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "base64 with + and /, and padding"}[semantic.GoType.Kind()]
		return invalidEnvelope("%s must be %s", shownPath(semantic.JSONPointer), cmp.Or(kind, "a JSON object"))
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return invalidEnvelope("%s is given twice", shownPath(syntactic.JSONPointer))
	}
	return invalidEnvelope("the envelope is not valid JSON").Because(err)
}

// shownPath quotes the name of a field, such as "headers.Accept".
func shownPath(pointer jsontext.Pointer) string {
	return shown(strings.Join(slices.Collect(pointer.Tokens()), "."))
}

// shown quotes a name that the caller chose, shortened to 64 bytes.
func shown(name string) string {
	const most = 64
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}

func (e *envelope) readMethod() error {
	switch {
	case e.Method == "":
		return invalidEnvelope("method is required, such as GET")
	case !slices.Contains(methods, e.Method):
		return invalidEnvelope("method must be %s", strings.Join(methods, ", "))
	}
	return nil
}

func (e *envelope) readPath() (err error) {
	switch {
	case e.Path == "":
		return invalidEnvelope("path is required, such as /api/chats?limit=10")
	case len(e.Path) > maxPath:
		return invalidEnvelope("path must not be longer than %d bytes", maxPath)
	}
	isBad := strings.ContainsFunc(e.Path, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' })
	if e.url, err = url.ParseRequestURI(e.Path); err != nil || isBad || !strings.HasPrefix(e.Path, "/") || strings.HasPrefix(e.Path, "//") {
		return invalidEnvelope("path must be a path with its query, such as /api/chats?limit=10")
	}
	return nil
}

func (e *envelope) readHeaders() error {
	if len(e.Headers) > maxHeaders {
		return invalidEnvelope("headers must have at most %d members", maxHeaders)
	}
	e.header = make(http.Header, len(e.Headers)+1)
	for name, value := range e.Headers {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return invalidEnvelope("headers has a name that is not a valid header name")
		case slices.Contains(connectionHeaders, canonical):
			return invalidEnvelope("headers.%s is for HTTP connections only: leave it out", canonical)
		case e.header[canonical] != nil:
			return invalidEnvelope("headers.%s is given twice", canonical)
		case len(value) > maxHeader:
			return invalidEnvelope("headers.%s must not be longer than %d bytes", shown(canonical), maxHeader)
		case !httpguts.ValidHeaderFieldValue(value):
			return invalidEnvelope("headers.%s must not contain line breaks or other control characters", canonical)
		}
		e.header.Set(canonical, value)
	}
	return nil
}

// readBody uses an object or a list as it is, and the content of a string.
func (e *envelope) readBody() error {
	if e.Body != nil && e.BodyBase64 != nil {
		return invalidEnvelope("body and bodyBase64 exclude each other")
	}
	switch e.Body.Kind() {
	case '{', '[':
		e.body = e.Body
	case '"':
		var text string
		if err := json.Unmarshal(e.Body, &text, jsontext.AllowInvalidUTF8(true)); err != nil {
			return unreadable(err)
		}
		e.body = []byte(text)
	default:
		if e.Body != nil {
			return invalidEnvelope("body must be an object, a list or a string; other bytes go into bodyBase64")
		}
		e.body = e.BodyBase64
	}
	return nil
}

func (e *envelope) readForm() error {
	switch {
	case len(e.Form) > maxFormFields:
		return invalidEnvelope("form must have at most %d members", maxFormFields)
	case e.body != nil && e.Form != nil:
		return invalidEnvelope("body and form exclude each other")
	case e.File == nil:
		return nil
	case e.Form == nil:
		return invalidEnvelope(`file needs form, the other fields of the request, such as {"jid": "15551234567@s.whatsapp.net"}`)
	case e.File.Name == "":
		return invalidEnvelope("file.name is required: the object's name in the bucket of files")
	case max(len(e.File.Name), len(e.File.FileName), len(e.File.ContentType)) > maxFileField:
		return invalidEnvelope("the fields of file must not be longer than %d bytes", maxFileField)
	}
	if _, _, err := mime.ParseMediaType(e.File.ContentType); err != nil && e.File.ContentType != "" {
		return invalidEnvelope("file.contentType must be a media type, such as image/png")
	}
	return nil
}

func (e *envelope) readTimeout() (err error) {
	e.timeout = defaultTimeout
	if e.Timeout != "" {
		e.timeout, err = time.ParseDuration(e.Timeout)
	}
	if err != nil || e.timeout < minTimeout || e.timeout > maxTimeout {
		return invalidEnvelope("timeout must be %v to %v, such as 30s", minTimeout, maxTimeout)
	}
	return nil
}
