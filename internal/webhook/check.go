package webhook

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

// maxURL limits the length of a URL.
const maxURL = 2048

// check refuses a webhook that could never work.
func (d *Dispatcher) check(ctx context.Context, w bridge.Webhook) error {
	if err := d.checkForm(w); err != nil {
		return err
	}
	if w.AllowPrivate && w.Source != bridge.WebhookFromEnvironment {
		if err := d.private.Check(ctx, w.URL); err != nil {
			return bridge.Invalid("allowPrivate: %s; WEBHOOK_ALLOW_PRIVATE lists the permitted addresses", reason(err))
		}
	}
	return d.verify(ctx, w)
}

// verify asks a receiver to confirm the webhook, if the format has a way to do that.
func (d *Dispatcher) verify(ctx context.Context, w bridge.Webhook) error {
	verifier, isAsked := d.formats[w.Format].(format.Verifier)
	if !isAsked {
		return nil
	}
	address, answer := verifier.Challenge(w)
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return bridge.Invalid("url is malformed")
	}
	req.URL = urlguard.Encoded(req.URL)
	unasked := func(err error) error {
		_, sentence := explain(err)
		return bridge.Invalid("bridged could not ask the receiver to confirm the webhook: %s", sentence)
	}
	resp, err := d.transport(w).RoundTrip(req)
	if err != nil {
		return unasked(err)
	}
	defer func() { _ = resp.Body.Close() }() // its end is not awaited
	got, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(answer))+64))
	switch {
	case err != nil:
		return unasked(err)
	case resp.StatusCode != http.StatusOK:
		return bridge.Invalid("the receiver did not confirm the webhook: it answered %d to hub.mode=subscribe; check the verifyToken", resp.StatusCode)
	case strings.TrimSpace(string(got)) != answer:
		return bridge.Invalid("the receiver did not confirm the webhook: it must answer with hub.challenge and nothing else")
	}
	return nil
}

// checkForm checks the settings that need no network. Webhooks from the environment may be
// private, because the operator owns the network.
func (d *Dispatcher) checkForm(w bridge.Webhook) error {
	if err := CheckURL(w.URL); err != nil {
		return err
	}
	if err := d.checkFormat(w); err != nil {
		return err
	}
	switch {
	case w.Source == bridge.WebhookFromEnvironment:
		return nil
	case w.AllowPrivate && d.private == nil:
		return bridge.Invalid("allowPrivate: private receivers are not permitted; WEBHOOK_ALLOW_PRIVATE lists the permitted ones")
	case w.AllowPrivate:
		return nil
	}
	if err := d.guard.Check(w.URL); err != nil {
		return bridge.Invalid("url: %s; a receiver in a private network needs allowPrivate", reason(err))
	}
	return nil
}

// checkFormat refuses a secret or options that a webhook's format cannot use.
func (d *Dispatcher) checkFormat(w bridge.Webhook) error {
	f, known := d.formats[w.Format]
	if !known {
		return bridge.Invalid("format must be one of %v", slices.Sorted(maps.Keys(d.formats)))
	}
	if err := format.CheckHeaders(w.Options.Headers); err != nil {
		return err
	}
	return f.Check(w)
}

func reason(err error) string {
	if refused, ok := err.(*urlguard.Error); ok {
		return refused.Reason
	}
	return err.Error()
}

// CheckURL refuses a URL that no receiver can have.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return bridge.Invalid("url is required")
	case len(raw) > maxURL:
		return bridge.Invalid("url is longer than %d characters", maxURL)
	case err != nil: // its text would contain the URL
		return bridge.Invalid("url is malformed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return bridge.Invalid("url must begin with http:// or https:// and name a host")
	case u.User != nil:
		return bridge.Invalid("url must not contain a user name or password: everyone who may list webhooks can see it")
	}
	return nil
}
