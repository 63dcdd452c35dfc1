package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/webhook/format"
)

// Most limits the number of webhooks: each has its own loop.
const Most = 50

// Create adds a webhook. Where w has no secret it gets one; either way the
// answer is the only one that shows it.
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
		return bridge.Webhook{}, bridge.Invalid("there are %d webhooks already, which is the most", Most)
	}
	secret := w.Secret
	if w, err = d.store.AddWebhook(ctx, w); err != nil {
		return bridge.Webhook{}, err
	}
	d.notify(w.ID, false)
	w.Secret = secret
	return w, nil
}

// Check refuses what Create refuses, and adds nothing.
func (d *Dispatcher) Check(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	if w.Secret == "" {
		w.Secret = format.NewSecret()
	}
	w.Format, w.Source = cmp.Or(w.Format, bridge.FormatBridged), bridge.WebhookFromAPI
	return w, d.check(ctx, w)
}

// CheckUpdate refuses what Update refuses, and changes nothing.
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

// Update changes a webhook, which goes on where it was in the log, at once and as it is
// set now. moves says that change may set where to post: the address is judged then.
// change is called more than once.
func (d *Dispatcher) Update(ctx context.Context, id int64, moves bool, change func(*bridge.Webhook)) (bridge.Webhook, error) {
	if moves { // before the store waits: it may take a look-up
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
		if !moves { // a receiver that is no longer permitted can still be switched off
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
	return bridge.Invalid("this webhook is configured by the environment; change WEBHOOK_URL and the variables beside it there, and restart")
}

// Delete removes a webhook with all that was still to be delivered. One that
// the environment configures can only go after it has gone from there.
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

// Forget ends the workers of webhooks that are gone.
func (d *Dispatcher) Forget(ids []int64) {
	for _, id := range ids {
		d.notify(id, false)
	}
}

// Tried describes the outcome of a test.
type Tried struct {
	OK         bool    `json:"ok"`
	Status     *int    `json:"responseStatus"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"durationMs"`
}

// Test posts something that is no event, once, and returns how that went.
func (d *Dispatcher) Test(ctx context.Context, id int64) (Tried, error) {
	w, err := d.store.Webhook(ctx, id)
	if err != nil {
		return Tried{}, err
	}
	got := d.post(ctx, format.Delivery{Webhook: w, ID: "test_" + rand.Text(), Event: bridge.Event{Type: format.Test, At: bridge.At(d.wall())}}, 0)
	if err := ctx.Err(); err != nil {
		return Tried{}, err
	}
	if got.isNothing {
		return Tried{}, bridge.Invalid("the format %s is tested with the account's state, which the token of this webhook may not see", w.Format)
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

// Redeliver posts an event once more, whether it was delivered or given up, and
// answers the delivery as it is then: where that fails it is a dead letter (again).
// A pending delivery is tried as soon as it is its turn.
func (d *Dispatcher) Redeliver(ctx context.Context, webhook, delivery int64) (bridge.WebhookDelivery, error) {
	kept, err := d.store.Delivery(ctx, webhook, delivery)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if kept.Status == bridge.WebhookPending {
		d.notify(webhook, true)
		return kept, nil
	}
	p, err := d.read(ctx, kept)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if !p.Shown {
		return bridge.WebhookDelivery{}, bridge.NotFound("event %d is not shown any more, or not wanted by this webhook", kept.EventID)
	}
	got := d.deliver(ctx, p, kept, 0)
	if err := ctx.Err(); err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if got.isNothing {
		return bridge.WebhookDelivery{}, bridge.NotFound("the format of this webhook has nothing for event %d", kept.EventID)
	}
	enter(&kept, got, d.wall())
	if got.failure != "" {
		abandon(&kept, got.failure)
	}
	progress := store.DeliveryProgress{Cursor: -1, Deliveries: []bridge.WebhookDelivery{kept}}
	return kept, d.store.SaveDeliveries(context.WithoutCancel(ctx), webhook, progress)
}

// Configure brings the webhooks of the environment up to date before a start.
// One that is no longer named is switched off and keeps its place in the log,
// so that it goes on there when it is named again.
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
