package webhook

import (
	"context"
	"slices"

	"bridged/internal/bridge"
)

// Configure brings the webhooks of the environment up to date before a start.
// One that is no longer named is switched off and keeps its place in the log,
// so that it goes on there when it is named again.
func (d *Dispatcher) Configure(ctx context.Context, configured []bridge.Webhook) error {
	all, err := d.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		isNamed := slices.ContainsFunc(configured, func(e bridge.Webhook) bool { return e.URL == w.URL })
		if w.Source == bridge.WebhookFromEnvironment && w.Enabled && !isNamed {
			if err := d.configure(ctx, w, func(w *bridge.Webhook) { w.Enabled = false }); err != nil {
				return err
			}
		}
	}
	for _, e := range configured {
		if err := d.configureOne(ctx, all, e); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) configureOne(ctx context.Context, all []bridge.Webhook, e bridge.Webhook) error {
	apply := func(w *bridge.Webhook) {
		w.URL, w.Secret, w.EventFilter, w.AllowPrivate, w.Enabled = e.URL, e.Secret, e.EventFilter, e.AllowPrivate, true
	}
	for _, w := range all {
		if w.Source == bridge.WebhookFromEnvironment && w.URL == e.URL {
			return d.configure(ctx, w, apply)
		}
	}
	w := bridge.Webhook{Source: bridge.WebhookFromEnvironment, Cursor: -1}
	apply(&w)
	if err := d.check(ctx, w); err != nil {
		return err
	}
	_, err := d.store.AddWebhook(ctx, w)
	return err
}

func (d *Dispatcher) configure(ctx context.Context, w bridge.Webhook, apply func(*bridge.Webhook)) error {
	_, err := d.store.ChangeWebhook(ctx, w.ID, func(w *bridge.Webhook) error {
		apply(w)
		return d.checkForm(*w)
	})
	return err
}
