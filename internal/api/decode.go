package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// decoder reads request bodies, within the room that all of them share; see
// [intake.Bodies].
type decoder struct{ bodies *intake.Bodies }

func newDecoder() decoder { return decoder{intake.NewBodies()} }

// decode reads the body, a JSON object, into v, ignores names that v does not
// have, and returns the bytes, to which an Idempotency-Key is bound.
func (d decoder) decode(w http.ResponseWriter, r *http.Request, v any) ([]byte, error) {
	return d.read(w, r, v, jsonReader{})
}

// decodeStrict does what decode does, but refuses names that v does not have.
func (d decoder) decodeStrict(w http.ResponseWriter, r *http.Request, v any) ([]byte, error) {
	return d.read(w, r, v, jsonReader{strict: true})
}

// decodeOptional reads a body that may be left out.
func (d decoder) decodeOptional(w http.ResponseWriter, r *http.Request, v any) error {
	_, err := d.read(w, r, v, jsonReader{optional: true})
	return err
}

// decodeStrictOptional does what decodeOptional does, but refuses names that v
// does not have, and returns the bytes.
func (d decoder) decodeStrictOptional(w http.ResponseWriter, r *http.Request, v any) ([]byte, error) {
	return d.read(w, r, v, jsonReader{optional: true, strict: true})
}

func (d decoder) read(w http.ResponseWriter, r *http.Request, v any, reader jsonReader) ([]byte, error) {
	if err := checkContentType(r); err != nil {
		return nil, err
	}
	body, done, err := d.bytes(w, r)
	if err != nil {
		return nil, err
	}
	defer done()
	return body, reader.unmarshal(body, v)
}

// bytes reads a body of any type. Its room is taken until done, which may be
// called more than once.
func (d decoder) bytes(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	return d.bytesOf(w, r, callerOf(r.Context()).Family)
}

// bytesOf reads a body that a family sends.
func (d decoder) bytesOf(w http.ResponseWriter, r *http.Request, family int64) (body []byte, done func(), err error) {
	body, done, err = d.bodies.ReadRequest(w, r, family, intake.MaxBody, front.BodyTime)
	if err != nil {
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, nil, bodyFault(r.Context(), err)
	}
	return body, done, nil
}

// bodyFault explains a body that could not be read to its end.
func bodyFault(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return errBodyTooLarge()
	case errors.Is(err, intake.ErrCut): // which ends the context too
		return errBodyCut()
	case errors.Is(err, os.ErrDeadlineExceeded): // which ends the context too
		return bridge.Invalid("the body did not arrive in time: send it within %.0f seconds", front.BodyTime.Seconds()).Because(err)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return bridge.Invalid("the body broke off; send all of it").Because(err)
	}
}

func errBodyCut() error {
	return &bridge.Error{
		Code: bridge.CodeTooManyConnections, RetryAfter: time.Second,
		Msg: "the body came too slowly while others waited: send it again, in one piece",
	}
}

func errBodyTooLarge() error {
	return bridge.Fail(bridge.CodePayloadTooLarge, "the body is larger than 1 MiB")
}

// checkContentType refuses types other than JSON. A missing one passes, as
// users of curl forget it.
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

// unmarshal decodes the whole of body into v.
func (j jsonReader) unmarshal(body []byte, v any) error {
	text := bytes.TrimLeft(body, " \t\r\n")
	if len(text) == 0 {
		if j.optional {
			return nil
		}
		return bridge.Invalid("the body is empty; it must be a JSON object")
	}
	if err := checkSyntax(body); err != nil {
		return err
	}
	if text[0] != '{' {
		return bridge.Invalid("the body must be a JSON object")
	}
	j.text = text
	return j.into(v)
}

// checkSyntax refuses what is not one JSON value.
func checkSyntax(body []byte) error {
	err := json.Unmarshal(body, new(ignored))
	switch {
	case err == nil:
		return nil
	case json.NewDecoder(bytes.NewReader(body)).Decode(new(ignored)) == nil:
		return bridge.Invalid("the body must be one JSON object, with nothing after it")
	default:
		return bridge.Invalid("the body is not valid JSON: %v", err)
	}
}

// ignored takes any JSON value and keeps nothing.
type ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*ignored) UnmarshalJSON([]byte) error { return nil }
