package main

import (
	"context"
	"io"

	"bridged/internal/webhook/format"
)

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
