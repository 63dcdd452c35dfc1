package main

import (
	"context"
	"crypto/sha256"
	"net/http"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/console"
	"bridged/internal/media/files"
)

// openConsole returns the console, which calls the API's router, or nil if it is switched off.
func (a *app) openConsole(c config.Config, router *api.Handler) (*console.Console, error) {
	if !c.Console {
		return nil, nil
	}
	var settings []console.Setting
	for _, s := range c.Settings() {
		settings = append(settings, console.Setting(s))
	}
	var accounts []console.Account
	for _, account := range c.AccountList {
		accounts = append(accounts, console.Account(account))
	}
	tokens := router.Tokens()
	return console.New(console.Options{
		API: func(hash [sha256.Size]byte) http.Handler { return tokens.As(router, hash) },
		TokenOf: func(ctx context.Context, hash [sha256.Size]byte) (token bridge.Token, known bool, err error) {
			caller, err := tokens.ByHash(ctx, hash)
			if caller == nil {
				return token, false, err
			}
			return caller.Token, true, nil
		},
		Sessions: a.store, Token: c.Token, EnableSend: c.EnableSend, Transcribes: c.Transcriber != nil, AsksPhone: c.HistoryImport.IsOn(), MaxFile: int64(c.MediaMaxBytes), PhoneNumber: c.PhoneNumber, PublicURLs: c.PublicURLs, BasePath: c.BasePath,
		Thumbnail: a.thumbnail, OAuth: a.oauth, Accounts: accounts, Settings: settings, Streams: a.streams, Log: a.log,
	})
}

// thumbnail returns a thumbnail of a stored message.
func (a *app) thumbnail(ctx context.Context, chat bridge.JID, id string, side files.ThumbnailSide) (*files.Picture, error) {
	m, err := a.store.Message(ctx, chat, id)
	if err != nil {
		return nil, err
	}
	return a.thumbs.Open(ctx, a.files, m, side)
}

// choose returns a handler that passes requests for some paths to one handler and other requests to
// another.
func choose(isOf func(path string) bool, handler, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isOf(r.URL.Path) {
			handler.ServeHTTP(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	})
}

// LoginLink returns an address that logs in to the console once, or "" without a console.
func (a *app) LoginLink() string {
	if a.console == nil {
		return ""
	}
	return a.client.BaseURL() + a.console.LoginLink()
}
