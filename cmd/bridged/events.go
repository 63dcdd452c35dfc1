package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
)

// openWebhooks brings the webhooks of the environment up to date. Nothing is
// posted until the dispatcher runs.
func openWebhooks(ctx context.Context, c config, s *store.Store, log zerolog.Logger) (*webhook.Dispatcher, error) {
	agent := "bridged/" + version
	d := webhook.New(webhook.Options{
		Store: s, Guard: urlguard.New(urlguard.Options{UserAgent: agent, AllowPrefixes: c.fetchAllow}), UserAgent: agent, Log: log,
	})
	return d, d.Configure(ctx, c.webhooks)
}

// checkEvents reads what is said of the log and of webhooks.
func (c *config) checkEvents(faults *configFaults) {
	if c.EventsMaxAge < 0 {
		faults.add("EVENTS_MAX_AGE must not be negative; 0 is no limit")
	}
	if c.EventsMaxCount < 0 {
		faults.add("EVENTS_MAX_COUNT must not be negative; 0 is no limit")
	}
	c.checkWebhookSecret(faults)
	types := c.webhookTypes(faults)
	for url := range strings.SplitSeq(c.WebhookURL, ",") {
		url = strings.TrimSpace(url)
		isNamed := slices.ContainsFunc(c.webhooks, func(e webhook.Endpoint) bool { return e.URL == url })
		if url == "" || isNamed {
			continue
		}
		if err := webhook.CheckURL(url); err != nil {
			faults.add("WEBHOOK_URL: %v; several are written with commas between", err)
			return
		}
		// Whoever sets the environment owns the network that it is in.
		c.webhooks = append(c.webhooks, webhook.Endpoint{URL: url, Secret: c.WebhookSecret, Types: types, AllowPrivate: true})
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

func (c *config) webhookTypes(faults *configFaults) []bridge.EventType {
	var types []bridge.EventType
	for name := range strings.SplitSeq(c.WebhookEvents, ",") {
		kind := bridge.EventType(strings.TrimSpace(name))
		switch {
		case kind == "" || slices.Contains(types, kind):
		case !slices.Contains(bridge.EventTypes(), kind):
			faults.add("WEBHOOK_EVENTS must be of message.created, message.updated, message.status, chat.updated, group.updated and account.status, with commas between")
			return nil
		default:
			types = append(types, kind)
		}
	}
	return types
}

// pruneLog removes events that are too old or too many, now and hourly, until
// ctx ends, and what is remembered of their deliveries.
func pruneLog(ctx context.Context, s *store.Store, maxAge time.Duration, maxCount int, log zerolog.Logger) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for {
		removed, err := pruneOnce(ctx, s, maxAge, maxCount)
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			log.Error().Err(err).Msg("old events not removed; trying again in an hour")
		case removed > 0:
			log.Info().Int("events", removed).Msg("old events removed")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func pruneOnce(ctx context.Context, s *store.Store, maxAge time.Duration, maxCount int) (int, error) {
	var before time.Time
	if maxAge > 0 {
		before = time.Now().Add(-maxAge)
	}
	removed, err := s.PruneEvents(ctx, before, maxCount)
	if err != nil {
		return removed, err
	}
	return removed, s.PruneDeliveries(ctx)
}
