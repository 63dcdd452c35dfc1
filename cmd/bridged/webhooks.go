package main

import (
	"context"

	"github.com/rs/zerolog"

	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
)

// openWebhooks brings the webhooks of the environment up to date. Nothing is
// posted until the dispatcher runs.
func openWebhooks(ctx context.Context, c config, s *store.Store, log zerolog.Logger) (*webhook.Dispatcher, error) {
	agent := "bridged/" + version
	d := webhook.New(webhook.Options{
		Store: s, Guard: urlguard.New(urlguard.Options{UserAgent: agent, AllowPrefixes: c.fetchAllow}), AllowPrivate: c.hookAllow, UserAgent: agent, Log: log,
	})
	return d, d.Configure(ctx, c.webhooks)
}
