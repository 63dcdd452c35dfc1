// Package client speaks the API, typed with the values of package bridge.
//
// A client reaches a bridge over the wire ([New]), or in the process through its
// router ([InProcess]), with the same authentication, checks and errors.
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
	base  string
	token string
	http  *http.Client
}

// New returns a client of the bridge at base, such as http://127.0.0.1:8080,
// with a pool of connections of its own.
func New(base, token string) *Client {
	// Without a proxy: a bridge is reached directly.
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

// BaseURL returns the address that the client calls.
func (c *Client) BaseURL() string { return c.base }

// Token returns the bearer token that the client sends.
func (c *Client) Token() string { return c.token }

// Close closes the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends a request with a JSON body, unless body is nil, and decodes the
// answer into out, unless that is nil. An answer other than 2xx is an [*Error].
func (c *Client) Call(ctx context.Context, method, path string, body, out any) error {
	return c.CallOnce(ctx, method, path, body, "", out)
}

// call wraps [Client.Call] for an answer of one type.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (out T, err error) {
	err = c.Call(ctx, method, path, body, &out)
	return out, err
}

// CallOnce does what [Client.Call] does, with an Idempotency-Key; an empty key is none.
func (c *Client) CallOnce(ctx context.Context, method, path string, body any, key string, out any) error {
	resp, err := c.Do(ctx, method, path, body, keyed(key))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return decode(resp, out)
}

// keyed returns the header of a call that can be repeated; empty without a key.
func keyed(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return header
}

// decode reads an answer to its end, and into out unless that is nil. Only at the end
// the bridge has finished with the request, and its Idempotency-Key is free.
func decode(resp *http.Response, out any) error {
	data, err := io.ReadAll(resp.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", resp.Request.Method, resp.Request.URL.Path, err)
	}
	return nil
}

// Do sends a request and returns its answer, whose body the caller reads and
// closes. An answer other than 2xx is an [*Error], but for the 304 that a header asks for.
func (c *Client) Do(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	var payload io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		payload = bytes.NewReader(encoded)
	}
	return c.send(ctx, method, path, "application/json", payload, header)
}

// send sends a request whose body has a type.
func (c *Client) send(ctx context.Context, method, path, contentType string, body io.Reader, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Authorization", "Bearer "+c.token)
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

// Error is an answer other than 2xx. It unwraps to a [*bridge.Error].
type Error struct {
	Method, Path string
	Status       int
	Code         bridge.Code
	Message      string        // a sentence for the caller that says what to change
	RetryAfter   time.Duration // how long to wait before trying again; 0 is unknown
	Changed      []string      // the fields of a group that were changed before it
	Dates        *bridge.AmbiguousDates
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
	return &bridge.Error{Code: e.Code, Msg: e.Message, RetryAfter: e.RetryAfter, Changed: e.Changed, Dates: e.Dates}
}

const maxErrorBody = 64 << 10 // bytes of an error's body that are read

// readError makes an error of an answer: of one that is no bridge's, by its status alone.
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
