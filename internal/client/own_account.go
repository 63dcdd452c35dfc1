package client

import (
	"context"
	"io"
	"net/http"

	"bridged/internal/bridge"
)

const accountPath = "/api/account"

// UpdateAccount changes what the account shows about itself. For the key see Send.
func (c *Client) UpdateAccount(ctx context.Context, patch bridge.AccountPatch, key string) error {
	return c.CallOnce(ctx, http.MethodPatch, accountPath, patch, key, nil)
}

// SetAccountPicture sets the account's picture, which is cropped to a square. For the key see Send.
func (c *Client) SetAccountPicture(ctx context.Context, picture io.Reader, key string) error {
	return c.setPicture(ctx, accountPath+"/picture", picture, key)
}

// RemoveAccountPicture removes the account's picture. For the key see Send.
func (c *Client) RemoveAccountPicture(ctx context.Context, key string) error {
	return c.CallOnce(ctx, http.MethodDelete, accountPath+"/picture", nil, key, nil)
}

// Privacy returns the account's privacy settings.
func (c *Client) Privacy(ctx context.Context) (bridge.Privacy, error) {
	return call[bridge.Privacy](ctx, c, http.MethodGet, accountPath+"/privacy", nil)
}

// UpdatePrivacy changes the settings that are not nil. For the key see Send.
func (c *Client) UpdatePrivacy(ctx context.Context, change bridge.Privacy, key string) error {
	fields := make(map[string]string)
	for _, setting := range change.All() {
		if *setting.Value != nil {
			fields[setting.Name] = **setting.Value
		}
	}
	return c.CallOnce(ctx, http.MethodPatch, accountPath+"/privacy", fields, key, nil)
}
