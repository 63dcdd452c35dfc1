package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
)

const (
	// tryTime is how long a receiver may take to answer.
	tryTime = 30 * time.Second
	// graceTime is how long a try may go on when the program stops.
	graceTime = time.Second
	// answerLimit is how much of an answer is read, which only serves to use
	// the connection again.
	answerLimit = 64 << 10
)

// payload is what is posted.
type payload struct {
	Type      bridge.EventType `json:"type"`
	Timestamp bridge.Time      `json:"timestamp"`
	Data      any              `json:"data"`
}

func payloadOf(event bridge.Event) payload {
	if event.Type == bridge.EventReset {
		return payload{event.Type, event.At, struct {
			After int64 `json:"after"`
		}{event.ID}}
	}
	return payload{event.Type, event.At, event}
}

// idOf is the same for every try of an event, and for no other event ever: the
// number alone comes again when a backup is restored.
func idOf(d *bridge.WebhookDelivery) string {
	return fmt.Sprintf("evt_%d_%x", d.EventID, d.EventAt.UnixMilli())
}

// event reads what a delivery is about, if it is still in the log.
func (d *Dispatcher) event(ctx context.Context, of *bridge.WebhookDelivery) (bridge.Event, bool, error) {
	if of.EventType == bridge.EventReset {
		return bridge.Event{ID: of.EventID, Type: of.EventType, At: of.EventAt}, true, nil
	}
	page, err := d.store.Events(ctx, store.EventQuery{After: of.EventID - 1, Limit: 1})
	if err != nil || len(page.Events) == 0 || page.Events[0].ID != of.EventID {
		return bridge.Event{}, false, err
	}
	return page.Events[0], true, nil
}

// result is how a try went: failure is empty where it went well, else a
// sentence for whoever set the webhook up; status is 0 without an answer.
type result struct {
	status  int
	failure string
	took    time.Duration
}

// post makes one try.
func (d *Dispatcher) post(ctx context.Context, w bridge.Webhook, id string, p payload) result {
	began := time.Now()
	status, err := d.send(ctx, w, id, p)
	got := result{status: status, took: time.Since(began)}
	switch {
	case err != nil:
		got.failure = explain(err)
		d.log.Warn().Int64("webhook", w.ID).Str("webhook_id", id).Str("failure", got.failure).Msg("webhook failed")
	case status < 200 || status > 299:
		got.failure = fmt.Sprintf("the receiver answered %d", status)
		if text := http.StatusText(status); text != "" {
			got.failure += " " + text
		}
		if status >= 300 && status <= 399 {
			got.failure += "; redirects are not followed"
		}
		d.log.Warn().Int64("webhook", w.ID).Str("webhook_id", id).Int("status", status).Msg("webhook failed")
	default:
		d.log.Debug().Int64("webhook", w.ID).Str("webhook_id", id).Int("status", status).Dur("took_ms", got.took).Msg("webhook delivered")
	}
	return got
}

func (d *Dispatcher) send(ctx context.Context, w bridge.Webhook, id string, p payload) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	req, err := d.request(ctx, w, id, p)
	if err != nil {
		return 0, err
	}
	// The transport itself, and not a client: redirects are not followed.
	transport := d.public
	if w.AllowPrivate {
		transport = d.private
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil { // why it was broken off
			err = errors.Join(ctx.Err(), err)
		}
		return 0, err
	}
	defer resp.Body.Close()
	// What a receiver says after its status does not matter.
	_, _ = io.CopyN(io.Discard, resp.Body, answerLimit)
	return resp.StatusCode, nil
}

// request signs and addresses what is posted.
func (d *Dispatcher) request(ctx context.Context, w bridge.Webhook, id string, p payload) (*http.Request, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	signer, err := standardwebhooks.NewWebhook(w.Secret)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	signature, err := signer.Sign(id, now, body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(standardwebhooks.HeaderWebhookID, id)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	// At least once is the promise: net/http may repeat it on a new connection
	// where the receiver had closed the old one. No such header is sent.
	req.Header["Idempotency-Key"] = []string{}
	if d.userAgent != "" {
		req.Header.Set("User-Agent", d.userAgent)
	}
	return req, nil
}

// explain says what went wrong without the addresses that a look-up brought
// to light.
func explain(err error) string {
	var refused *urlguard.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("the receiver did not answer within %.0f s", tryTime.Seconds())
	case errors.Is(err, context.Canceled):
		return "broken off"
	case errors.As(err, &refused):
		return refused.Reason
	case errors.As(err, &name) && name.IsNotFound:
		return "the receiver's host does not exist"
	case errors.As(err, &name):
		return "the receiver's host could not be looked up"
	case errors.As(err, &certificate):
		return "the receiver's certificate is not valid"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the receiver refused the connection"
	}
	return "the connection to the receiver broke"
}
