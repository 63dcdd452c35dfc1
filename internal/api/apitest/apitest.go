// Package apitest has a client for tests that checks every request that was accepted, and the status,
// headers and body of every answer, against the OpenAPI document. Routes that are not in the document
// must answer with an error.
package apitest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Client calls one server. A call that fails ends the test. An answer that the document does not allow
// fails it.
type Client struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client
}

// NewClient returns a client of the server at base ("http://127.0.0.1:1234").
// If token is empty, requests have no Authorization header.
func NewClient(t testing.TB, base, token string) *Client {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{t, strings.TrimSuffix(base, "/"), token, &http.Client{Transport: Checked(t, transport)}}
}

// WithToken returns c with another token.
func (c *Client) WithToken(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// Response is an answer, read to its end.
type Response struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

// Get requests a path with its query. Headers are pairs of a name and a value.
func (c *Client) Get(path string, headers ...string) Response {
	c.t.Helper()
	return c.Do(http.MethodGet, path, "", headers...)
}

// Post sends body: nothing if it is nil, a string unchanged, other values as JSON.
func (c *Client) Post(path string, body any, headers ...string) Response {
	c.t.Helper()
	text, isText := body.(string)
	if body != nil && !isText {
		encoded, err := json.Marshal(body)
		if err != nil {
			c.t.Fatalf("encode the body for %s: %v", path, err)
		}
		text = string(encoded)
	}
	return c.Do(http.MethodPost, path, text, headers...)
}

// Do makes a call. A body has the Content-Type application/json unless a header changes it.
func (c *Client) Do(method, path, body string, headers ...string) Response {
	c.t.Helper()
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: read the answer: %v", method, path, err)
	}
	return Response{t: c.t, Status: resp.StatusCode, Header: resp.Header, Body: answer}
}

// Want returns r. It fails the test if the status is another one.
func (r Response) Want(status int) Response {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("status %d, want %d: %s", r.Status, status, bytes.TrimSpace(r.Body))
	}
	return r
}

// Decode reads the body into v.
func (r Response) Decode(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.Body, v); err != nil {
		r.t.Fatalf("decode %s: %v", bytes.TrimSpace(r.Body), err)
	}
}

// Code returns the code of an error, or "" if the answer is not an error.
func (r Response) Code() string { return r.failure().Code }

// Error returns the sentence of an error.
func (r Response) Error() string { return r.failure().Error }

func (r Response) failure() (body struct{ Error, Code string }) {
	r.t.Helper()
	if r.Status >= http.StatusBadRequest {
		r.Decode(&body)
	}
	return body
}
