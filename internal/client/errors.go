package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"bridged/internal/bridge"
)

// Error is an answer other than 2xx. It unwraps to a [*bridge.Error], so that
// [bridge.CodeOf] works for it.
type Error struct {
	Method, Path string
	Status       int
	Code         bridge.Code
	Message      string        // a sentence for the caller that says what to change
	RetryAfter   time.Duration // how long to wait before trying again; 0 is unknown
	Changed      []string      // the fields of a group that were changed before it
}

// Error returns the API's sentence.
func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return fmt.Sprintf("%s %s was answered %d %s", e.Method, e.Path, e.Status, http.StatusText(e.Status))
}

// Unwrap returns the error as the bridge knows it.
func (e *Error) Unwrap() error {
	return &bridge.Error{Code: e.Code, Msg: e.Message, RetryAfter: e.RetryAfter, Changed: e.Changed}
}

// maxErrorBody limits how much of an error's body is read.
const maxErrorBody = 64 << 10

// readError makes an error of an answer. What is not JSON did not come from a
// bridge, and has a status alone.
func readError(resp *http.Response) error {
	e := &Error{Method: resp.Request.Method, Path: resp.Request.URL.Path, Status: resp.StatusCode, Code: bridge.CodeInternal}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	var body struct {
		Error   string
		Code    bridge.Code
		Changed []string
	}
	if err == nil && json.Unmarshal(data, &body) == nil && body.Code != "" {
		e.Code, e.Message, e.Changed = body.Code, body.Error, body.Changed
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// unreachable explains a request that got no answer.
func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("no bridge answers at %s: start it first (%w)", c.base, err)
}
