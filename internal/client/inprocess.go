package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// InProcess returns a client that calls handler, the router of a bridge in this process, without
// a connection. Requests carry the token as they do over the network.
func InProcess(handler http.Handler, token string) *Client {
	return Over(Transport(handler, "in-process"), "http://in-process", token)
}

// Transport returns a transport that calls handler, the router of a bridge in this process. from
// replaces the caller's address.
func Transport(handler http.Handler, from string) http.RoundTripper { return inProcess{handler, from} }

// inProcess calls a handler. Responses are streamed: the handler waits for their reader.
type inProcess struct {
	handler http.Handler
	from    string
}

// RoundTrip runs the handler until it returns, ctx ends, or the response is closed.
func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	in := req.Clone(ctx)
	in.RequestURI, in.RemoteAddr = in.URL.RequestURI(), p.from
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, out := io.Pipe()
	w := &pipeWriter{header: make(http.Header), out: out, begun: make(chan struct{})}
	unblock := context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer cancel()
		err := w.run(p.handler, in)
		unblock()
		out.CloseWithError(err) // nil means io.EOF
	}()
	select {
	case <-w.begun:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if w.failed != nil {
		return nil, w.failed
	}
	return w.response(req, &pipeBody{body, cancel}), nil
}

// pipeWriter is the handler's side of a response.
type pipeWriter struct {
	header http.Header // the handler's, until the response has started
	out    *io.PipeWriter

	once   sync.Once
	begun  chan struct{} // closed when status, sent and failed are set
	status int
	sent   http.Header
	failed error
}

// run calls the handler. A panic aborts the response, as it does on a connection.
func (w *pipeWriter) run(handler http.Handler, in *http.Request) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the handler panicked: %v", cause)
			if cause == http.ErrAbortHandler {
				err = io.ErrUnexpectedEOF
			}
			w.once.Do(func() { w.failed = err; close(w.begun) })
		}
		err = errors.Join(err, in.Body.Close())
	}()
	handler.ServeHTTP(w, in)
	w.WriteHeader(http.StatusOK)
	return nil
}

// Header returns the header of the response.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader starts the response, once.
func (w *pipeWriter) WriteHeader(status int) {
	if status < 200 {
		return
	}
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

// Write waits until the reader has read everything.
func (w *pipeWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(data)
}

// SetWriteDeadline ends the answer if the time has passed, also a write that waits. A later time
// has no effect: a reader in the process has as long as its own caller.
func (w *pipeWriter) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() && !at.After(time.Now()) {
		return w.out.CloseWithError(os.ErrDeadlineExceeded)
	}
	return nil
}

// Flush starts the response. There is no buffer.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *pipeWriter) response(req *http.Request, body io.ReadCloser) *http.Response {
	length, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: length, Request: req,
	}
}

// pipeBody is the reader's side of a response.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close cancels the handler's context.
func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
