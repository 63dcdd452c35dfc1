package main

import (
	"net/http"

	"bridged/internal/api"
	"bridged/internal/config"
	"bridged/internal/console"
)

// openConsole returns the console over the API's router; nil where it is
// switched off.
func (a *app) openConsole(c config.Config, router *api.Handler) (*console.Console, error) {
	if !c.Console {
		return nil, nil
	}
	var settings []console.Setting
	for _, s := range c.Settings() {
		settings = append(settings, console.Setting(s))
	}
	return console.New(console.Options{
		API: router, Family: router.Family, Token: c.Token, EnableSend: c.EnableSend, PhoneNumber: c.PhoneNumber, PublicURLs: c.PublicURLs,
		Settings: settings, Streams: a.streams, Log: a.log,
	})
}

// tokenOfSession returns the token of a visitor who has logged in to the console;
// empty for others.
func (a *app) tokenOfSession(r *http.Request) string {
	if a.console == nil {
		return ""
	}
	return a.console.TokenOf(r)
}

// withConsole gives the paths of the console to it, and all others to the API.
func withConsole(router http.Handler, pages *console.Console) http.Handler {
	if pages == nil {
		return router
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if console.Serves(r.URL.Path) {
			pages.ServeHTTP(w, r)
			return
		}
		router.ServeHTTP(w, r)
	})
}

// LoginLink returns an address that logs in to the console once, without the
// token; empty where there is no console.
func (a *app) LoginLink() string {
	if a.console == nil {
		return ""
	}
	return a.client.BaseURL() + a.console.LoginLink()
}

// publicURL returns the first address at which a reverse proxy shows the bridge,
// empty for none.
func publicURL(c config.Config) string {
	if len(c.PublicURLs) == 0 {
		return ""
	}
	return c.PublicURLs[0].String()
}
