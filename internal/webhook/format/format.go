// Package format says how a webhook's events are posted: bridged's own form, signed as in
// Standard Webhooks, and what the forms of other bridges have in common.
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

// Test is the type of the event that tests a webhook. It is in no log.
const Test bridge.EventType = "webhook.test"

// Delivery is what a try of a webhook posts.
type Delivery struct {
	Webhook bridge.Webhook
	// ID names the event and is the same at every try. No other event ever has it.
	ID    string
	Event bridge.Event // its type may be [bridge.EventReset] or [Test], too
	Own   Account
	Now   time.Time
	// GroupName is that of the event's group, where the webhook posts each as a contact.
	GroupName string
}

// Account describes the bridge's account.
type Account struct {
	User  *bridge.User // nil as long as none is linked
	State bridge.State
}

// Post is a request to a receiver.
type Post struct {
	URL    string
	Header http.Header
	Body   []byte
	// File, unless nil, is posted in base64 between Body and Tail. Without goes instead of
	// all three where the file cannot be opened.
	File    *File
	Tail    []byte
	Without []byte
}

// File names the file of a message.
type File struct {
	Chat bridge.JID
	ID   string
}

// Opener opens files of messages, and says how many bytes they have.
type Opener func(ctx context.Context, of File) (io.ReadCloser, int64, error)

// Format is a form in which events are posted.
type Format interface {
	// Check refuses a secret or options that the format cannot use.
	Check(w bridge.Webhook) error
	// Posts returns what is posted of an event, in order: nothing where the format has no
	// word for it, or the webhook does not want it.
	Posts(d Delivery) ([]Post, error)
}

// Verifier is a format whose receivers prove that they want a webhook.
type Verifier interface {
	// Challenge returns the address that is asked before a webhook is kept, and the whole
	// answer that it must give.
	Challenge(w bridge.Webhook) (address, answer string)
}

// Limits of a webhook's options.
const (
	maxHeaders     = 20
	maxHeaderValue = 4096
	maxSecret      = 256
)

// reserved are the headers that a webhook does not set itself.
var reserved = []string{"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// CheckHeaders refuses headers that cannot be sent.
func CheckHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return bridge.Invalid("formatOptions.headers must be at most %d", maxHeaders)
	}
	for name, value := range headers {
		canonical := http.CanonicalHeaderKey(name)
		for _, taken := range reserved {
			if canonical == taken {
				return bridge.Invalid("formatOptions.headers must not set %s", taken)
			}
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || len(value) > maxHeaderValue {
			return bridge.Invalid("formatOptions.headers has a name or a value that no header can have")
		}
	}
	return nil
}

// CheckText refuses a secret that is empty, very long, or not printable. Other bridges take
// any text.
func CheckText(secret string) error {
	if secret == "" || len(secret) > maxSecret || strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return bridge.Invalid("the secret must be a text of 1 to %d bytes on one line", maxSecret)
	}
	return nil
}

// Header returns the headers of a post in JSON, with those that a webhook sets.
func Header(w bridge.Webhook) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	for name, value := range w.Options.Headers {
		header.Set(name, value)
	}
	return header
}
