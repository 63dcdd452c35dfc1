package compat

import (
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// SaveWebhook creates a webhook if id is 0, or changes the one with the id. Upstream APIs have no
// allowPrivate: a private address is allowed if the operator permits it.
func SaveWebhook(c *Call, id int64, change client.WebhookChange) (client.Webhook, error) {
	save := func(private bool) (client.Webhook, error) {
		change.AllowPrivate = &private
		if id == 0 {
			return c.API.CreateWebhook(c.Context(), change)
		}
		return c.API.UpdateWebhook(c.Context(), id, change)
	}
	saved, err := save(true)
	if !isAboutPrivate(err) {
		return saved, err
	}
	saved, fault := save(false)
	if isAboutPrivate(fault) { // the address is private, and the first error says who can permit that
		return saved, err
	}
	return saved, fault
}

func isAboutPrivate(err error) bool {
	return bridge.CodeOf(err) == bridge.CodeInvalid && strings.Contains(err.Error(), "allowPrivate")
}

// OwnWebhooks returns the webhooks in a format that the caller's token created itself.
func OwnWebhooks(c *Call, format bridge.WebhookFormat) (own []bridge.Webhook, err error) {
	all, err := c.API.Webhooks(c.Context())
	for _, w := range all {
		if w.Format == format && w.IsOwn {
			own = append(own, w)
		}
	}
	return own, err
}
