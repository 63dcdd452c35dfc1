package main

import (
	"context"
	"io"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat/cloud"
	"bridged/internal/compat/evolution"
	"bridged/internal/compat/waha"
	"bridged/internal/config"
	"bridged/internal/webhook/format"
)

// formats returns the formats of webhooks other than bridged's own. Links in them begin with the first
// PUBLIC_URL, if there is one.
func formats(c config.Config) map[bridge.WebhookFormat]format.Format {
	base := func(prefix string) string {
		if len(c.PublicURLs) == 0 {
			return ""
		}
		return strings.TrimSuffix(c.PublicURLs[0].String(), "/") + prefix
	}
	return map[bridge.WebhookFormat]format.Format{
		bridge.FormatWAHA:      waha.Format{Base: base(waha.Prefix)},
		bridge.FormatEvolution: evolution.Format{Instance: c.CompatInstance, Base: base(evolution.Prefix)},
		bridge.FormatCloud:     cloud.Webhook{},
	}
}

// own describes the account to the formats of webhooks.
func (a *app) own() format.Account {
	status := a.account.Status()
	return format.Account{User: status.User, State: status.Status}
}

// openFile opens the file of a message for a webhook whose format posts it.
func (a *app) openFile(ctx context.Context, of format.File) (io.ReadCloser, int64, error) {
	m, err := a.store.Message(ctx, of.Chat, of.ID)
	if err != nil {
		return nil, 0, err
	}
	file, err := a.files.Open(ctx, m)
	if err != nil {
		return nil, 0, err
	}
	return file, file.Size, nil
}
