package compat

import (
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// KeepWebhook makes a webhook, or changes the one with an id. Other bridges know no
// allowPrivate: the address may be private where the operator permits that.
func KeepWebhook(c *Call, id int64, change client.WebhookChange) (client.Webhook, error) {
	keep := func(private bool) (client.Webhook, error) {
		change.AllowPrivate = &private
		if id == 0 {
			return c.API.CreateWebhook(c.Context(), change)
		}
		return c.API.UpdateWebhook(c.Context(), id, change)
	}
	kept, err := keep(true)
	if !isAboutPrivate(err) {
		return kept, err
	}
	kept, fault := keep(false)
	if isAboutPrivate(fault) { // it is private, and the first says who may permit that
		return kept, err
	}
	return kept, fault
}

func isAboutPrivate(err error) bool {
	return bridge.CodeOf(err) == bridge.CodeInvalid && strings.Contains(err.Error(), "allowPrivate")
}

// OwnWebhooks returns the webhooks in a format that the caller has made, and not those of
// tokens of its making; none where the caller may see no webhooks.
func OwnWebhooks(c *Call, format bridge.WebhookFormat) (own []bridge.Webhook, err error) {
	all, err := c.API.Webhooks(c.Context())
	for _, w := range all {
		if w.Format == format && w.IsOwn {
			own = append(own, w)
		}
	}
	return own, err
}
