package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
	"bridged/internal/webhook/format"
)

// Most is the maximum number of webhooks. Each has its own worker.
const Most = 50

// Create adds a webhook. It generates a secret if w has none. The secret is returned only this
// once.
func (d *Dispatcher) Create(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	w, err := d.Check(ctx, w)
	if err != nil {
		return bridge.Webhook{}, err
	}
	all, err := d.store.Webhooks(ctx)
	if err != nil {
		return bridge.Webhook{}, err
	}
	if len(all) >= Most {
		return bridge.Webhook{}, bridge.Invalid("there are already %d webhooks, which is the maximum", Most)
	}
	secret := w.Secret
	if w, err = d.store.AddWebhook(ctx, w); err != nil {
		return bridge.Webhook{}, err
	}
	d.notify(w.ID, false)
	w.Secret = secret
	return w, nil
}

// Check returns the errors of Create without adding anything.
func (d *Dispatcher) Check(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	if w.Secret == "" {
		w.Secret = format.NewSecret()
	}
	w.Format, w.Source = cmp.Or(w.Format, bridge.FormatBridged), bridge.WebhookFromAPI
	return w, d.check(ctx, w)
}

// CheckUpdate returns the errors of Update without changing anything.
func (d *Dispatcher) CheckUpdate(ctx context.Context, id int64, moves bool, change func(*bridge.Webhook)) (bridge.Webhook, error) {
	w, err := d.store.Webhook(ctx, id)
	switch {
	case err != nil:
		return w, err
	case w.Source == bridge.WebhookFromEnvironment:
		return w, errFromEnvironment()
	}
	if change(&w); moves {
		return w, d.check(ctx, w)
	}
	return w, d.checkFormat(w)
}

// Update changes a webhook. It continues at its position in the log, at once and with the new
// settings. moves says that change may set the URL, which is then checked. change is called more
// than once.
func (d *Dispatcher) Update(ctx context.Context, id int64, moves bool, change func(*bridge.Webhook)) (bridge.Webhook, error) {
	if moves { // before the store's transaction: it may need a look-up
		w, err := d.store.Webhook(ctx, id)
		if err == nil && w.Source != bridge.WebhookFromEnvironment {
			change(&w)
			err = d.check(ctx, w)
		}
		if err != nil {
			return bridge.Webhook{}, err
		}
	}
	w, err := d.store.ChangeWebhook(ctx, id, func(w *bridge.Webhook) error {
		if w.Source == bridge.WebhookFromEnvironment {
			return errFromEnvironment()
		}
		change(w)
		if !moves { // a receiver that is not permitted any more can still be switched off
			return d.checkFormat(*w)
		}
		return d.checkForm(*w)
	})
	if err != nil {
		return bridge.Webhook{}, err
	}
	d.notify(id, false)
	return w, nil
}

func errFromEnvironment() error {
	return bridge.Invalid("this webhook is configured by the environment: change WEBHOOK_URL and the related variables there, and restart")
}

// Delete removes a webhook with its pending deliveries. A webhook of the environment must be
// removed there first.
func (d *Dispatcher) Delete(ctx context.Context, id int64) error {
	err := d.store.RemoveWebhook(ctx, id, func(w bridge.Webhook) error {
		if w.Source == bridge.WebhookFromEnvironment && w.Enabled {
			return errFromEnvironment()
		}
		return nil
	})
	if err == nil {
		d.notify(id, false)
	}
	return err
}

// Forget ends the workers of removed webhooks.
func (d *Dispatcher) Forget(ids []int64) {
	for _, id := range ids {
		d.notify(id, false)
	}
}

// Tried is the result of a test.
type Tried struct {
	OK         bool    `json:"ok"`
	Status     *int    `json:"responseStatus"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"durationMs"`
}

// Test posts a test event once and returns the result.
func (d *Dispatcher) Test(ctx context.Context, id int64) (Tried, error) {
	w, err := d.store.Webhook(ctx, id)
	if err != nil {
		return Tried{}, err
	}
	got := d.post(ctx, format.Delivery{Webhook: w, ID: "test_" + rand.Text(), Event: bridge.Event{Type: format.Test, At: bridge.At(d.wall())}}, 0)
	if err := ctx.Err(); err != nil {
		return Tried{}, err
	}
	if got.hasNoPost {
		return Tried{}, bridge.Invalid("a test in the format %s needs the account's state, which the token of this webhook may not see", w.Format)
	}
	tried := Tried{OK: got.failure == "", DurationMS: got.took.Milliseconds()}
	if got.status != 0 {
		tried.Status = &got.status
	}
	if got.failure != "" {
		tried.Error = &got.failure
	}
	return tried, nil
}

// Redeliver posts an event once more, even if it was delivered or given up, and returns the
// delivery. If the post fails, the delivery is a dead letter (again). A pending delivery is tried
// as soon as its queue allows.
func (d *Dispatcher) Redeliver(ctx context.Context, webhook, delivery int64) (bridge.WebhookDelivery, error) {
	stored, err := d.store.Delivery(ctx, webhook, delivery)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if stored.Status == bridge.WebhookPending {
		d.notify(webhook, true)
		return stored, nil
	}
	p, err := d.read(ctx, stored)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if !p.Shown {
		return bridge.WebhookDelivery{}, bridge.NotFound("event %d is not shown any more, or this webhook's filter excludes it", stored.EventID)
	}
	got := d.deliver(ctx, p, stored, 0)
	if err := ctx.Err(); err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if got.hasNoPost {
		return bridge.WebhookDelivery{}, bridge.NotFound("the format of this webhook has no post for event %d", stored.EventID)
	}
	record(&stored, got, d.wall())
	if got.failure != "" {
		abandon(&stored, got.failure)
	}
	progress := settings.DeliveryProgress{Cursor: -1, Deliveries: []bridge.WebhookDelivery{stored}}
	return stored, d.store.SaveDeliveries(context.WithoutCancel(ctx), webhook, progress)
}

// Configure updates the webhooks of the environment before a start. A webhook that is not named
// any more is switched off. When it is named again, it continues at its old position in the log.
func (d *Dispatcher) Configure(ctx context.Context, named []bridge.Webhook) error {
	all, err := d.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, w := range all {
		i := slices.IndexFunc(named, func(n bridge.Webhook) bool { return n.URL == w.URL })
		if w.Source != bridge.WebhookFromEnvironment || i < 0 && !w.Enabled {
			continue
		}
		known[w.URL] = true
		_, err := d.store.ChangeWebhook(ctx, w.ID, func(w *bridge.Webhook) error {
			if w.Enabled = i >= 0; w.Enabled {
				w.Secret, w.EventFilter, w.AllowPrivate = named[i].Secret, named[i].EventFilter, named[i].AllowPrivate
				w.Format = cmp.Or(named[i].Format, bridge.FormatBridged)
			}
			return d.checkForm(*w)
		})
		if err != nil {
			return err
		}
	}
	for _, w := range named {
		if known[w.URL] {
			continue
		}
		w.Source, w.Enabled, w.Cursor = bridge.WebhookFromEnvironment, true, -1
		w.Format = cmp.Or(w.Format, bridge.FormatBridged)
		if err := d.check(ctx, w); err != nil {
			return err
		}
		if _, err := d.store.AddWebhook(ctx, w); err != nil {
			return err
		}
	}
	return nil
}
