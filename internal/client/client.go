// Package client is a typed client of the API. It uses the types of package bridge.
//
// A client calls a bridge over the network ([New]) or within the process through its router
// ([InProcess]), with the same authentication, checks and errors.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// Client calls the API of one bridge with one token. It is safe for concurrent use.
type Client struct {
	base   string
	token  string
	http   *http.Client
	answer *Answer // of the last call; nil if nobody reads it
}

// Answer is the body of an answer as the bridge sent it.
type Answer struct {
	Body     json.RawMessage
	Replayed bool // an earlier call with the same Idempotency-Key got it
}

// Answering returns a client of the same bridge that also stores the answer of its last call in to, for
// programs that pass it on. It is not safe for concurrent use.
func (c *Client) Answering(to *Answer) *Client {
	other := *c
	other.answer = to
	return &other
}

// New returns a client of the bridge at base, such as http://127.0.0.1:8080, with its own pool of
// connections.
func New(base, token string) *Client {
	// No proxy: a bridge is reached directly.
	return Over(&http.Transport{MaxIdleConnsPerHost: 64}, base, token)
}

// Over returns a client of the bridge at base that uses transport.
func Over(transport http.RoundTripper, base, token string) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), token: token, http: &http.Client{Transport: transport}}
}

// WithToken returns a client of the same bridge with another token.
func (c *Client) WithToken(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// BaseURL returns the URL of the bridge.
func (c *Client) BaseURL() string { return c.base }

// Token returns the bearer token that the client sends, if it is not empty.
func (c *Client) Token() string { return c.token }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends a request with a JSON body (none if body is nil) and decodes the response into out,
// unless out is nil. A status other than 2xx is returned as an [*Error].
func (c *Client) Call(ctx context.Context, method, path string, body, out any) error {
	return c.CallOnce(ctx, method, path, body, "", out)
}

// call is [Client.Call] for a response of one type.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (out T, err error) {
	err = c.Call(ctx, method, path, body, &out)
	return out, err
}

// CallOnce is [Client.Call] with an Idempotency-Key, if key is not empty.
func (c *Client) CallOnce(ctx context.Context, method, path string, body any, key string, out any) error {
	resp, err := c.Do(ctx, method, path, body, keyed(key))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return c.decode(resp, out)
}

// keyed returns the header with an Idempotency-Key, or an empty header.
func keyed(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return header
}

// decode reads a response to its end, and into out unless out is nil. Only after the end has the
// bridge finished the request and released its Idempotency-Key.
func (c *Client) decode(resp *http.Response, out any) error {
	data, err := io.ReadAll(resp.Body)
	if c.answer != nil {
		*c.answer = Answer{data, isReplayed(resp)}
	}
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", resp.Request.Method, resp.Request.URL.Path, err)
	}
	return nil
}

func isReplayed(resp *http.Response) bool { return resp.Header.Get("Idempotency-Replayed") == "true" }

// Do sends a request and returns its response. The caller reads and closes the body. A status
// other than 2xx is returned as an [*Error], except a 304 that a header asks for.
func (c *Client) Do(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	var payload io.Reader = http.NoBody
	if body != nil {
		encoded, err := bridge.EncodeJSON(body)
		if err != nil {
			return nil, err
		}
		payload = bytes.NewReader(encoded)
	}
	return c.send(ctx, method, path, "application/json", payload, header)
}

// send sends a request with a body of a content type.
func (c *Client) send(ctx context.Context, method, path, contentType string, body io.Reader, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if contentType == "application/json" && body != http.NoBody {
		req.Header.Set("Prefer", "handling=strict") // a bridge that does not know a field would send without it
	}
	maps.Copy(req.Header, header)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != http.NoBody {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.http.Do(req)
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("no bridge answers at %s: start it first (%w)", c.base, err)
	}
	if (resp.StatusCode < 200 || resp.StatusCode > 299) && resp.StatusCode != http.StatusNotModified {
		err := readError(resp)
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// Error is a response with a status other than 2xx. It unwraps to a [*bridge.Error].
type Error struct {
	Method, Path string
	Status       int
	Code         bridge.Code
	Message      string        // a sentence for the caller that says what to change
	RetryAfter   time.Duration // how long to wait before trying again; 0 if unknown
	Changed      []string      // the fields of a group that were changed before the error
	Dates        *bridge.AmbiguousDates
}

// Error returns the API's error sentence.
func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return fmt.Sprintf("%s %s was answered %d %s", e.Method, e.Path, e.Status, http.StatusText(e.Status))
}

// Unwrap returns the error as a [*bridge.Error].
func (e *Error) Unwrap() error {
	return &bridge.Error{Code: e.Code, Msg: e.Message, RetryAfter: e.RetryAfter, Changed: e.Changed, Dates: e.Dates}
}

const maxErrorBody = 64 << 10 // bytes of an error's body that are read

// readError returns the error of a response. A response that is not from a bridge is described by
// its status only.
func readError(resp *http.Response) error {
	e := &Error{Method: resp.Request.Method, Path: resp.Request.URL.Path, Status: resp.StatusCode, Code: bridge.CodeInternal}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	var body struct {
		Error   string
		Code    bridge.Code
		Changed []string
		bridge.AmbiguousDates
	}
	if err == nil && json.Unmarshal(data, &body) == nil && body.Code != "" {
		e.Code, e.Message, e.Changed = body.Code, body.Error, body.Changed
		if len(body.Orders) > 0 {
			e.Dates = &body.AmbiguousDates
		}
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
