package main

import (
	"net/netip"
	"os"
	"slices"
	"strings"

	"bridged/internal/webhook"
)

// checkEvents checks the variables of the event log and of webhooks.
func (c *config) checkEvents(faults *configFaults) {
	if c.EventsMaxAge < 0 {
		faults.add("EVENTS_MAX_AGE must not be negative; 0 is no limit")
	}
	if c.EventsMaxCount < 0 {
		faults.add("EVENTS_MAX_COUNT must not be negative; 0 is no limit")
	}
	c.checkWebhookPrivate(faults)
	c.checkWebhookSecret(faults)
	filter := c.webhookFilter(faults)
	for url := range strings.SplitSeq(c.WebhookURL, ",") {
		url = strings.TrimSpace(url)
		isNamed := slices.ContainsFunc(c.webhooks, func(e webhook.Configured) bool { return e.URL == url })
		if url == "" || isNamed {
			continue
		}
		if err := webhook.CheckURL(url); err != nil {
			faults.add("WEBHOOK_URL: %v; several are written with commas between", err)
			return
		}
		// The operator who sets the environment owns the network. Addresses that
		// are never reached are refused when they are dialled.
		c.webhooks = append(c.webhooks, webhook.Configured{URL: url, Secret: c.WebhookSecret, Filter: filter, AllowPrivate: true})
	}
}

// checkWebhookPrivate reads the private addresses that webhooks made over the API
// may have.
func (c *config) checkWebhookPrivate(faults *configFaults) {
	for text := range strings.SplitSeq(c.WebhookPrivate, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix != prefix.Masked() {
			faults.add("WEBHOOK_ALLOW_PRIVATE must be address prefixes with commas between, such as 10.0.0.0/8, fd00::/8")
			return
		}
		c.hookAllow = append(c.hookAllow, prefix)
	}
}

func (c *config) checkWebhookSecret(faults *configFaults) {
	if c.WebhookSecretFile != "" {
		if c.WebhookSecret != "" {
			faults.add("set WEBHOOK_SECRET or WEBHOOK_SECRET_FILE, not both")
			return
		}
		data, err := os.ReadFile(c.WebhookSecretFile)
		if err != nil {
			faults.add("WEBHOOK_SECRET_FILE cannot be read: %v", err)
			return
		}
		c.WebhookSecret = strings.TrimSpace(string(data))
	}
	if c.WebhookSecret == "" && strings.TrimSpace(c.WebhookURL) == "" {
		return
	}
	if err := webhook.CheckSecret(c.WebhookSecret); err != nil {
		faults.add("WEBHOOK_SECRET signs what is posted to WEBHOOK_URL: %v", err)
	}
}
