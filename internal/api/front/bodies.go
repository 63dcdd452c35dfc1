package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// Bodies reads the bodies of requests within a limit on the memory of all bodies.
type Bodies struct{ *intake.Bodies }

// NewBodies returns a reader with a quota of its own.
func NewBodies() Bodies { return Bodies{intake.NewBodies()} }

// ReadBody reads a body of at most 1 MiB, which counts for the token tree until done is called. done
// may be called more than once.
func (b Bodies) ReadBody(w http.ResponseWriter, r *http.Request, tree int64) (body []byte, done func(), err error) {
	body, done, err = b.ReadRequest(w, r, tree, intake.MaxBody, BodyTimeout)
	if err != nil {
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, nil, BodyFault(r.Context(), err)
	}
	return body, done, nil
}

// JSON says how strictly a body in JSON is read.
type JSON struct {
	Strict   bool // whether unknown names are refused
	Optional bool // whether the body may be empty
}

// Decode reads a body, which must be a JSON object, into v and returns its bytes.
func (b Bodies) Decode(w http.ResponseWriter, r *http.Request, tree int64, v any, form JSON) ([]byte, error) {
	if err := checkContentType(r); err != nil {
		return nil, err
	}
	body, done, err := b.ReadBody(w, r, tree)
	if err != nil {
		return nil, err
	}
	defer done()
	switch isEmpty := len(bytes.TrimLeft(body, " \t\r\n")) == 0; {
	case isEmpty && form.Optional:
		return body, nil
	case isEmpty:
		return nil, bridge.Invalid("the body is empty; it must be a JSON object")
	}
	return body, decodeJSON(body, v, form.Strict)
}

// BodyFault returns the error of a body that could not be read to its end.
func BodyFault(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the body is larger than 1 MiB")
	case errors.Is(err, intake.ErrTooSlow): // before ctx, which is cancelled too
		return &bridge.Error{
			Code: bridge.CodeTooManyConnections, RetryAfter: time.Second,
			Msg: "the body arrived too slowly while others waited: send it again without pauses",
		}
	case errors.Is(err, os.ErrDeadlineExceeded): // before ctx, which is cancelled too
		return bridge.Invalid("the body did not arrive in time: send it within %.0f seconds", BodyTimeout.Seconds()).Because(err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return bridge.Invalid("the body is incomplete: send all of it").Because(err)
}

// checkContentType refuses types other than JSON. A missing one passes.
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
		return bridge.Invalid("Content-Type: the charset must be utf-8")
	}
	return nil
}

// Chunks returns a body with a new deadline for each chunk, because a form with a file takes longer
// than other bodies.
func Chunks(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	return &chunks{ReadCloser: body, w: w}
}

type chunks struct {
	io.ReadCloser
	w     http.ResponseWriter
	until time.Time // when the deadline is renewed; renewing it for every read would be slow
}

func (p *chunks) Read(b []byte) (int, error) {
	if now := time.Now(); now.After(p.until) {
		SetDeadline(http.NewResponseController(p.w).SetReadDeadline, BodyTimeout+time.Second)
		p.until = now.Add(time.Second)
	}
	return p.ReadCloser.Read(b)
}
