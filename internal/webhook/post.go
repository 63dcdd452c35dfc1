package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

const (
	// attemptTimeout is how long a receiver may take to answer a post.
	attemptTimeout = 30 * time.Second
	// openTimeout is how long opening an event's file may take; after it, the event is posted without the file.
	openTimeout = attemptTimeout / 2
	// stopTimeout is how long an attempt may still take when the program stops.
	stopTimeout = time.Second
	// drainLimit (in bytes) and drainTimeout limit the reading of an answer's body.
	drainLimit   = 16 << 10
	drainTimeout = 100 * time.Millisecond
)

// read returns the event of a delivery, with the current content of its message.
func (d *Dispatcher) read(ctx context.Context, of bridge.WebhookDelivery) (store.Post, error) {
	if of.EventType != bridge.EventReset {
		return d.store.Post(ctx, of.WebhookID, of.EventID)
	}
	p, err := d.store.Post(ctx, of.WebhookID, 0)
	p.Shown = true // no filter can exclude it
	return p, err
}

// deliver posts the event of a delivery. A format can make several posts of one event; deliver skips the first ones,
// which the receiver has already accepted.
func (d *Dispatcher) deliver(ctx context.Context, p store.Post, of bridge.WebhookDelivery, accepted int) outcome {
	event := p.Event
	if of.EventType == bridge.EventReset {
		event = bridge.Event{ID: of.EventID, Type: bridge.EventReset, At: of.EventAt}
	}
	name, err := d.groupName(ctx, p.Webhook, event.ChatJID)
	if err != nil {
		d.log.Error().Err(err).Int64("webhook", p.Webhook.ID).Msg("cannot read the group of an event")
		return outcome{failure: "bridged could not read the name of the event's group", accepted: accepted}
	}
	return d.post(ctx, format.Delivery{Webhook: p.Webhook, ID: bridge.EventName(of.EventID, of.EventAt), Event: event, GroupName: name}, accepted)
}

// groupName returns the name of a group, for webhooks that post each group as a contact.
func (d *Dispatcher) groupName(ctx context.Context, w bridge.Webhook, chat bridge.JID) (string, error) {
	if !w.Options.GroupChats || !chat.IsGroup() {
		return "", nil
	}
	group, err := d.store.Chat(ctx, chat)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return "", nil
	}
	return group.Name, err
}

// outcome is the result of an attempt. failure is empty if it succeeded, and otherwise a sentence
// for the person who set up the webhook. status is 0 without an answer.
type outcome struct {
	status         int
	failure        string
	took           time.Duration
	receiverFailed bool          // the receiver is down; it would fail for any event
	retryAfter     time.Duration // the pause that the receiver asks for
	isInterrupted  bool          // the attempt was cancelled, so its result is unknown
	hasNoPost      bool          // the format has no post for this event
	accepted       int           // posts of the event that the receiver has accepted
}

// post makes one attempt: it sends the posts of an event that the receiver has not accepted yet,
// until one fails.
func (d *Dispatcher) post(ctx context.Context, of format.Delivery, accepted int) (got outcome) {
	began := time.Now()
	of.Own, of.Now = d.own(), d.wall()
	log := d.log.With().Int64("webhook", of.Webhook.ID).Str("webhook_id", of.ID).Logger()
	posts, err := d.posts(of)
	if err != nil {
		log.Error().Err(err).Msg("cannot encode an event for a webhook")
		d.attempts.WithLabelValues(string(unencodable)).Inc()
		return outcome{failure: "bridged could not encode the event in the webhook's format", accepted: accepted}
	}
	if len(posts) == 0 {
		return outcome{hasNoPost: true}
	}
	var result kind
	for _, p := range posts[min(accepted, len(posts)-1):] {
		got, err = d.send(ctx, of.Webhook, p)
		result = kindOf(got.status)
		switch {
		case err != nil:
			result, got.failure = explain(err)
			got.receiverFailed = true
			log.Warn().Str("failure", got.failure).Msg("webhook failed")
		case result != succeeded:
			got.failure = refusal(got.status)
			got.receiverFailed = got.status < 400 || got.status > 499 || got.status == http.StatusGone
			log.Warn().Int("status", got.status).Msg("webhook failed")
		default:
			accepted++
		}
		if got.failure != "" {
			break
		}
	}
	d.attempts.WithLabelValues(string(result)).Inc()
	got.took, got.accepted = time.Since(began), accepted
	if got.failure == "" {
		log.Debug().Int("status", got.status).Dur("took_ms", got.took).Msg("webhook delivered")
	}
	return got
}

// posts returns the posts for an event.
func (d *Dispatcher) posts(of format.Delivery) ([]format.Post, error) {
	f, known := d.formats[of.Webhook.Format]
	if !known { // a later version has stored the webhook
		return nil, fmt.Errorf("the format %q is not known", of.Webhook.Format)
	}
	return f.Posts(of)
}

// refusal returns a sentence about a status that is not a success.
func refusal(status int) string {
	sentence := strings.TrimSpace(fmt.Sprintf("the receiver answered %d %s", status, http.StatusText(status)))
	if status >= 300 && status <= 399 {
		sentence += "; redirects are not followed"
	}
	return sentence
}

func (d *Dispatcher) send(ctx context.Context, w bridge.Webhook, p format.Post) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	req, err := d.request(ctx, p)
	if err != nil {
		return outcome{}, err
	}
	// Uses the transport instead of a client, because redirects are not followed.
	resp, err := d.transport(w).RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil { // the transport's error does not say whether it was a timeout
			err = errors.Join(ctx.Err(), err)
		}
		return outcome{}, err
	}
	drain(resp.Body)
	got := outcome{status: resp.StatusCode}
	if got.status == http.StatusTooManyRequests || got.status == http.StatusServiceUnavailable {
		got.retryAfter = bridge.RetryAfter(resp.Header.Get("Retry-After"), d.wall(), longestAsked)
	}
	return got, nil
}

// transport returns the transport to a webhook's receiver.
func (d *Dispatcher) transport(w bridge.Webhook) http.RoundTripper {
	switch {
	case w.Source == bridge.WebhookFromEnvironment && w.AllowPrivate:
		return d.transports[toAll]
	case w.AllowPrivate:
		return d.transports[toPrivate]
	}
	return d.transports[toPublic]
}

// drain closes the body of an answer. It first reads the body if it is short and arrives at once,
// so that the connection can be reused.
func drain(body io.ReadCloser) {
	late := time.AfterFunc(drainTimeout, func() { _ = body.Close() })
	_, _ = io.CopyN(io.Discard, body, drainLimit)
	if late.Stop() {
		_ = body.Close()
	}
}

// request returns the HTTP request of a post.
func (d *Dispatcher) request(ctx context.Context, p format.Post) (*http.Request, error) {
	body, size := io.NopCloser(bytes.NewReader(p.Body)), int64(len(p.Body))
	if p.File != nil {
		body, size = d.withFile(ctx, p)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, body)
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	req.URL = urlguard.Encoded(req.URL)
	req.ContentLength = size
	if p.File == nil { // the body is in memory, so it can be sent again
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p.Body)), nil }
	}
	req.Header = p.Header
	// This header lets net/http repeat the post on a new connection if the receiver has closed the old one. It is
	// not sent, because it has no value.
	req.Header["Idempotency-Key"] = []string{}
	if d.userAgent != "" && req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", d.userAgent)
	}
	return req, nil
}

// withFile returns the body of a post that contains a file in base64, and the body's size in bytes. If the file cannot
// be opened, it returns the body without the file.
func (d *Dispatcher) withFile(ctx context.Context, p format.Post) (io.ReadCloser, int64) {
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	file, size, err := d.openFile(opening, *p.File)
	if err != nil {
		d.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("posting to a webhook without the file, because it cannot be opened")
		return io.NopCloser(bytes.NewReader(p.Without)), int64(len(p.Without))
	}
	reader, writer := io.Pipe()
	go func() {
		encoder := base64.NewEncoder(base64.StdEncoding, writer)
		_, err := io.Copy(encoder, file)
		_ = writer.CloseWithError(errors.Join(err, encoder.Close(), file.Close())) // never fails
	}()
	whole := io.MultiReader(bytes.NewReader(p.Body), reader, bytes.NewReader(p.Tail))
	return fileBody{whole, reader}, int64(len(p.Body)) + int64(base64.StdEncoding.EncodedLen(int(size))) + int64(len(p.Tail))
}

// fileBody reads a body whose file is encoded while it is read, and closes the encoder's pipe.
type fileBody struct {
	io.Reader
	io.Closer
}
