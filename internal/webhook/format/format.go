// Package format defines the formats of webhooks. It has bridged's own one, which is signed according to
// Standard Webhooks, and the helpers that all formats share.
package format

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"bridged/internal/bridge"
)

// Test is the type of the event that tests a webhook. It is not stored.
const Test bridge.EventType = "webhook.test"

// Delivery is one attempt to post an event to a webhook.
type Delivery struct {
	Webhook bridge.Webhook
	// ID identifies the event and is the same for every attempt. No other event ever has it.
	ID    string
	Event bridge.Event // its type can also be [bridge.EventReset] or [Test]
	Own   Account
	Now   time.Time
	// GroupName is the name of the event's group, if the webhook posts groups as contacts.
	GroupName string
}

// Account describes the bridge's account.
type Account struct {
	User  *bridge.User // nil if none is linked
	State bridge.State
}

// Post is a request to a receiver.
type Post struct {
	URL    string
	Header http.Header
	Body   []byte
	// File is posted in base64 between Body and Tail; it may be nil. If the file cannot be opened, Without is
	// posted instead of all three.
	File    *File
	Tail    []byte
	Without []byte
}

// File identifies the file of a message.
type File struct {
	Chat bridge.JID
	ID   string
}

// Opener opens the file of a message and returns its size in bytes.
type Opener func(ctx context.Context, of File) (io.ReadCloser, int64, error)

// Format is a format of posts.
type Format interface {
	// Check refuses a secret or options that the format cannot use.
	Check(w bridge.Webhook) error
	// Posts returns the posts for an event, in order. It returns none if the format has no form for the event, or
	// the webhook does not want it.
	Posts(d Delivery) ([]Post, error)
}

// Verifier is a format whose receivers must confirm a webhook.
type Verifier interface {
	// Challenge returns the address that is requested before a webhook is stored, and the body that it must
	// answer.
	Challenge(w bridge.Webhook) (address, answer string)
}

// Limits of a webhook's options.
const (
	maxHeaders     = 20
	maxHeaderValue = 4096
	maxSecret      = 256
)

// reserved has the headers that a webhook cannot set.
var reserved = []string{"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// CheckHeaders refuses headers that cannot be sent.
func CheckHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return bridge.Invalid("formatOptions.headers must be at most %d", maxHeaders)
	}
	for name, value := range headers {
		canonical := http.CanonicalHeaderKey(name)
		for _, name := range reserved {
			if canonical == name {
				return bridge.Invalid("formatOptions.headers must not set %s", name)
			}
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || len(value) > maxHeaderValue {
			return bridge.Invalid("formatOptions.headers has a name or a value that no header can have")
		}
	}
	return nil
}

// CheckText refuses a secret that is empty, longer than 256 bytes, or not printable. The formats of other
// bridges allow any text.
func CheckText(secret string) error {
	if secret == "" || len(secret) > maxSecret || strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return bridge.Invalid("the secret must be a text of 1 to %d bytes on one line", maxSecret)
	}
	return nil
}

// Header returns the headers of a post in JSON, including those that the webhook sets.
func Header(w bridge.Webhook) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	for name, value := range w.Options.Headers {
		header.Set(name, value)
	}
	return header
}
