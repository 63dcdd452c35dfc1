// Package chatwoot sends stored messages into an inbox of Chatwoot, through Chatwoot's API.
//
// Nothing that it does makes Chatwoot send a message to a person. Chatwoot delivers outgoing messages of a
// WhatsApp inbox, so such an inbox gets private notes only. An inbox of the type API gets incoming and outgoing
// messages, unless Chatwoot passes them on to other programs. [Backfill] checks this before it writes.
package chatwoot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
)

// Client calls the API of one Chatwoot account with one token, slowly enough for its limits. It repeats calls
// that fail for a while. It is not safe for concurrent use.
type Client struct {
	base    string // with the account
	token   string
	http    *http.Client
	pace    *rate.Limiter
	note    func(string)
	pauseOf func(time.Duration) time.Duration // shortened by tests
}

// Options configure a [Client].
type Options struct {
	URL       string // of the installation, such as https://chatwoot.example.com
	Token     string // an access token of an administrator
	Account   int64
	PerMinute int          // requests
	Note      func(string) // gets remarks about pauses
}

const (
	maxAnswer = 32 << 20 // bytes
	timeout   = 2 * time.Minute
)

// New returns a client.
func New(o Options) *Client {
	return &Client{
		base: fmt.Sprintf("%s/api/v1/accounts/%d", strings.TrimSuffix(o.URL, "/"), o.Account), token: o.Token,
		pace: rate.NewLimiter(rate.Every(time.Minute/time.Duration(max(o.PerMinute, 1))), 1), note: o.Note,
		pauseOf: func(d time.Duration) time.Duration { return d },
		// As everywhere but for WhatsApp, no proxy is used.
		http: &http.Client{Timeout: timeout, Transport: &http.Transport{ForceAttemptHTTP2: true}, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the token would be sent to the other address
		}},
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is an answer of Chatwoot with a status other than 2xx.
type Error struct {
	Status     int
	Message    string // Chatwoot's own sentence, or ""
	RetryAfter time.Duration
}

// Error returns Chatwoot's sentence with the status.
func (e *Error) Error() string {
	text := fmt.Sprintf("Chatwoot answers %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// isRefused reports whether Chatwoot refuses a call for good because of its content.
func isRefused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status >= 400 && e.Status < 500 && !e.isThrottled()
}

func isStatus(err error, status int) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == status
}

// isThrottled reports whether the call may be repeated later: its address or its conversation has had too many.
func (e *Error) isThrottled() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Message, "Too many messages")
}

const (
	attempts       = 8                // of a call
	firstPause     = time.Second      // after a failure; doubled after each further one
	throttledPause = 61 * time.Second // Chatwoot counts calls by the minute
	longestPause   = 10 * time.Minute
)

// pause returns how long to wait before another attempt, or false if the call must not be repeated.
func pause(err error, attempt int) (time.Duration, bool) {
	e, answered := errors.AsType[*Error](err)
	switch {
	case attempt+1 >= attempts, errors.Is(err, context.Canceled), errors.Is(err, errAnswer):
		return 0, false
	case answered && e.isThrottled() && e.RetryAfter > 0:
		return e.RetryAfter, true
	case answered && e.isThrottled():
		return throttledPause, true
	case answered && e.Status < 500 && e.Status != http.StatusRequestTimeout:
		return 0, false
	}
	return firstPause << attempt, true
}

// wait waits before another attempt.
func (c *Client) wait(ctx context.Context, err error, d time.Duration) error {
	if d >= firstPause<<2 {
		c.note(fmt.Sprintf("%v; waiting %s …", err, d.Round(time.Second)))
	}
	if !bridge.Sleep(ctx, c.pauseOf(d)) {
		return ctx.Err()
	}
	return nil
}

// body returns a new body of a request, with its content type, for each attempt.
type body func() (content io.Reader, contentType string, err error)

// jsonBody returns a body with a value in JSON.
func jsonBody(value any) body {
	return func() (io.Reader, string, error) {
		encoded, err := bridge.EncodeJSON(value)
		return bytes.NewReader(encoded), "application/json", err
	}
}

// read makes a call that may be repeated, and decodes its answer into out, unless out is nil.
func (c *Client) read(ctx context.Context, method, path string, with body, out any) error {
	for attempt := 0; ; attempt++ {
		err := c.call(ctx, method, path, with, out)
		d, again := pause(err, attempt)
		if err == nil || !again {
			return err
		}
		if err := c.wait(ctx, err, d); err != nil {
			return err
		}
	}
}

// once makes a call that must not take effect twice. After a failure it asks isDone whether the call took effect
// nevertheless: the answer may be lost, and Chatwoot also answers with an error if it has stored a message and
// fails afterwards.
func (c *Client) once(ctx context.Context, call func() error, isDone func() (bool, error)) error {
	for attempt := 0; ; attempt++ {
		err := call()
		if err == nil || ctx.Err() != nil || isStatus(err, http.StatusUnauthorized) || errors.Is(err, errAnswer) {
			return err
		}
		d, again := pause(err, attempt)
		if again {
			if err := c.wait(ctx, err, d); err != nil {
				return err
			}
		}
		if done, lookErr := isDone(); done || lookErr != nil {
			return lookErr
		}
		if !again {
			return err
		}
	}
}

// errAnswer is the error of an answer that is not Chatwoot's.
var errAnswer = errors.New("the answer is not one of Chatwoot's API: check CHATWOOT_URL")

// call makes one attempt of a call.
func (c *Client) call(ctx context.Context, method, path string, with body, out any) (err error) {
	if err := c.pace.Wait(ctx); err != nil {
		return err
	}
	var content io.Reader
	var contentType string
	if with != nil {
		if content, contentType, err = with(); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return err
	}
	if known, ok := content.(sized); ok {
		req.ContentLength = known.size
	}
	// The documentation spells the header with underscores, which proxies drop by default. Chatwoot takes both.
	req.Header.Set("Api-Access-Token", c.token)
	req.Header.Set("Accept", "application/json")
	if with != nil {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.http.Do(req)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), closed(resp))
	}
	if err != nil {
		return fmt.Errorf("Chatwoot cannot be reached: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("the answer of Chatwoot ended early: %w", err)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("%w: it redirects to %s", errAnswer, bridge.Beginning(resp.Header.Get("Location"), 200))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return &Error{resp.StatusCode, sentence(data), bridge.RetryAfter(resp.Header.Get("Retry-After"), time.Now(), longestPause)}
	case out == nil:
		return nil
	}
	if json.Unmarshal(data, out) != nil {
		return errAnswer
	}
	return nil
}

func closed(resp *http.Response) error {
	if resp == nil {
		return nil
	}
	return resp.Body.Close()
}

// sentence returns the sentence in the body of an error, which has one of three forms, or "".
func sentence(data []byte) string {
	var e struct {
		Error   json.RawMessage
		Message json.RawMessage
		Errors  json.RawMessage
	}
	if json.Unmarshal(data, &e) != nil {
		return ""
	}
	for _, raw := range []json.RawMessage{e.Message, e.Error, e.Errors} {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if text != "" {
			return bridge.Beginning(text, 300)
		}
	}
	return ""
}
