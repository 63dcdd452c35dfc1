package webhook

import (
	"context"
	"slices"

	"bridged/internal/bridge"
)

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
		if err := d.check(ctx, w); err != nil {
			return err
		}
		if _, err := d.store.AddWebhook(ctx, w); err != nil {
			return err
		}
	}
	return nil
}
