package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

const (
	// maxDepth is how deep the values of one message may nest.
	maxDepth = 32
	// maxValues bounds the values of one message. The SDK decodes parts of it into
	// maps, where a value of two bytes takes a hundred.
	maxValues = 2000
)

// checkMessage refuses a message with more, or deeper, values than any call has. The
// SDK refuses text that is not JSON.
func checkMessage(body []byte) error {
	if begin := bytes.TrimLeft(body, " \t\r\n"); len(begin) > 0 && begin[0] == '[' {
		return bridge.Invalid("send one message at a time, without a list around it")
	}
	depth, values, inText, escaped := 0, 0, false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
			values++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
		if depth > maxDepth || values > maxValues {
			return bridge.Invalid("a message may have at most %d values, at most %d deep", maxValues, maxDepth)
		}
	}
	return nil
}

// admitted reads the body of a request for which the server has a place, and checks
// it before the SDK decodes it.
func admitted(server HTTP, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := server.Admit(r); err != nil {
			refuse(w, err)
			return
		}
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, done, err := server.Body(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		defer done()
		if err := checkMessage(body); err != nil {
			refuse(w, err)
			return
		}
		if ours, is := w.(*privateWriter); is {
			ours.last = r.ContentLength < 0
		}
		auth.TokenInfoFromContext(r.Context()).Extra[bodyKey] = done
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// refuse answers a request that does not reach the SDK.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	switch bridge.CodeOf(err) {
	case bridge.CodeInvalid:
		status = http.StatusBadRequest
	case bridge.CodePayloadTooLarge:
		status = http.StatusRequestEntityTooLarge
	}
	http.Error(w, sentence(err), status)
}

// decoded gives back the memory of a body once its message is decoded: a call may
// wait for long.
func decoded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
			if done, read := extra.TokenInfo.Extra[bodyKey].(func()); read {
				done()
			}
		}
		return next(ctx, method, req)
	}
}

// private keeps answers out of caches, and closes connections after bodies that were
// not read or came in chunks, as the API does: see head.go there.
func private(server HTTP, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			server.Unwanted(w, r)
		}
		next.ServeHTTP(&privateWriter{ResponseWriter: w, last: r.ContentLength != 0}, r)
	})
}

// privateWriter sets headers that the SDK sets otherwise.
type privateWriter struct {
	http.ResponseWriter
	last  bool // the connection is closed after the answer
	begun bool
}

// WriteHeader begins the answer.
func (w *privateWriter) WriteHeader(status int) {
	if w.begun {
		return
	}
	w.begun = true
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Del("Connection")
	if w.last {
		header.Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer.
func (w *privateWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the writer below; see [http.NewResponseController].
func (w *privateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
