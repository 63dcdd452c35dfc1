package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"bridged/internal/bridge"
)

const (
	maxBody = 1 << 20 // bytes of the largest request body

	// smallBody is the size up to which bodies have a quota of their own, so
	// that large ones that arrive slowly hold up no ordinary call.
	smallBody    = 16 << 10
	smallBodies  = 4 << 20 // bytes of small bodies that are read and decoded at once
	largerBodies = 8 << 20 // bytes of larger ones
)

// decoder reads request bodies. It bounds the memory of those that are read
// and decoded at the same time; further ones wait for their turn.
type decoder struct{ small, larger *semaphore.Weighted }

func newDecoder() decoder {
	return decoder{semaphore.NewWeighted(smallBodies), semaphore.NewWeighted(largerBodies)}
}

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

// bytes reads a body of any type. It takes its memory until done, which may be
// called more than once.
func (d decoder) bytes(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close") // the body is never read
		return nil, nil, errBodyTooLarge()
	}
	release, err := d.turn(w, r)
	if err != nil {
		return nil, nil, err
	}
	done = sync.OnceFunc(release)
	if body, err = readBody(w, r); err != nil {
		done()
		return nil, nil, err
	}
	return body, done, nil
}

// turn waits until the body of r may take its memory; done gives it back.
func (d decoder) turn(w http.ResponseWriter, r *http.Request) (done func(), err error) {
	size := r.ContentLength
	if size < 0 { // unknown
		size = maxBody
	}
	quota := d.larger
	if size <= smallBody {
		quota = d.small
	}
	if err := quota.Acquire(r.Context(), size); err != nil {
		return nil, err
	}
	startBody(w, r)
	return func() { quota.Release(size) }, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead) // growing step by step takes twice as much
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		bodyRead(w)
		return body.Bytes(), nil
	case errors.As(err, &tooLarge):
		return nil, errBodyTooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded): // which ends the context too
		return nil, bridge.Invalid("the body did not arrive in time: send it within %.0f seconds", bodyTime.Seconds()).Because(err)
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	default:
		return nil, bridge.Invalid("the body broke off; send all of it").Because(err)
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
