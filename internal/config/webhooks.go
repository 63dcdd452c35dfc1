package config

import (
	"net/netip"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/webhook"
	"bridged/internal/webhook/format"
)

// checkWebhooks reads the webhooks of the environment, and the private addresses
// that those made over the API may have.
func (c *Config) checkWebhooks(faults *Faults) {
	const notPrefixes = "WEBHOOK_ALLOW_PRIVATE must be address prefixes separated by commas, such as 10.0.0.0/8, fd00::/8"
	c.PrivateHooks = parseList(faults, c.WebhookPrivate, notPrefixes, func(item string) (netip.Prefix, bool) {
		prefix, err := netip.ParsePrefix(item)
		return prefix, err == nil && prefix == prefix.Masked()
	})
	c.checkWebhookSecret(faults)
	filter := bridge.EventFilter{Types: c.webhookTypes(faults), ChatType: bridge.ChatsAll}
	for url := range items(c.WebhookURL) {
		if slices.ContainsFunc(c.Webhooks, func(e bridge.Webhook) bool { return e.URL == url }) {
			continue
		}
		if err := webhook.CheckURL(url); err != nil {
			faults.add("WEBHOOK_URL: %v; several are separated by commas", err)
			return
		}
		// The operator who sets the environment owns the network.
		c.Webhooks = append(c.Webhooks, bridge.Webhook{URL: url, Secret: c.WebhookSecret, EventFilter: filter, AllowPrivate: true})
	}
}

func (c *Config) checkWebhookSecret(faults *Faults) {
	before := len(*faults)
	c.WebhookSecret = secret("WEBHOOK_SECRET", c.WebhookSecret, c.WebhookSecretFile, faults)
	if len(*faults) > before || c.WebhookSecret == "" && strings.TrimSpace(c.WebhookURL) == "" {
		return
	}
	if err := format.CheckSecret(c.WebhookSecret); err != nil {
		faults.add("WEBHOOK_SECRET signs the posts to WEBHOOK_URL: %v", err)
	}
}

func (c *Config) webhookTypes(faults *Faults) (types []bridge.EventType) {
	for item := range items(c.WebhookEvents) {
		kind := bridge.EventType(item)
		if !slices.Contains(bridge.EventTypes(), kind) {
			faults.add("WEBHOOK_EVENTS must be of %s, separated by commas", eventNames())
			return nil
		}
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types
}

// eventNames returns the names of all types of events.
func eventNames() string {
	var names []string
	for _, kind := range bridge.EventTypes() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}
