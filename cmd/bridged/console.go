package main

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"bridged/internal/api"
	"bridged/internal/console"
)

// openConsole returns the console over the API's router; nil where it is
// switched off.
func (a *app) openConsole(c config, router *api.Handler) (*console.Console, error) {
	if !c.Console {
		return nil, nil
	}
	return console.New(console.Options{
		API: router, Family: router.Family, Token: c.Token, EnableSend: c.EnableSend, PhoneNumber: c.PhoneNumber, PublicURLs: c.publicURLs,
		Settings: c.settings(), Streams: a.streams, Log: a.log,
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

// checkPublicURL reads the addresses at which a reverse proxy shows the console.
func (c *config) checkPublicURL(faults *configFaults) {
	if strings.TrimSpace(c.PublicURL) == "" {
		return
	}
	for value := range strings.SplitSeq(c.PublicURL, ",") {
		at, err := url.Parse(strings.TrimSpace(value))
		if err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.User != nil {
			faults.add("PUBLIC_URL must be the address of the console as browsers open it, such as https://bridge.example.com; several with commas between")
			return
		}
		c.publicURLs = append(c.publicURLs, at)
	}
}

// publicURL returns the first address at which a reverse proxy shows the bridge,
// empty for none.
func (c config) publicURL() string {
	if len(c.publicURLs) == 0 {
		return ""
	}
	return c.publicURLs[0].String()
}

// settings lists the variables as they are in force. Of secrets it tells only
// whether they are set, of addresses neither user nor password.
func (c config) settings() (list []console.Setting) {
	defaults, _ := parseConfig(nil) // faults of missing variables do not matter here
	values := reflect.ValueOf(c)
	for i := range values.NumField() {
		field := values.Type().Field(i)
		name := field.Tag.Get("env")
		if name == "" {
			continue
		}
		value, usual := settingText(values.Field(i)), settingText(reflect.ValueOf(defaults).Field(i))
		list = append(list, console.Setting{Name: name, Value: shownSetting(name, value), IsDefault: value == usual})
	}
	return list
}

// settingText returns a value as one would write it into the environment.
func settingText(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case byteSize:
		return v.String()
	case time.Duration:
		return durationText(v)
	}
	return fmt.Sprint(value.Interface())
}

// shownSetting returns what everybody may see of a value.
func shownSetting(name, text string) string {
	switch {
	case text == "":
		return ""
	case isSecret(name):
		return "set"
	case strings.HasSuffix(name, "_URL"):
		return withoutSecrets(text)
	}
	return text
}

// isSecret reports whether a variable holds something that nobody may see.
func isSecret(name string) bool {
	return strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_SECRET")
}

// withoutSecrets returns addresses without what may be a secret in them: of a
// webhook, that is the path, too.
func withoutSecrets(list string) string {
	addresses := strings.Split(list, ",")
	for i, address := range addresses {
		at, err := url.Parse(strings.TrimSpace(address))
		if err != nil {
			addresses[i] = "set"
			continue
		}
		addresses[i] = at.Scheme + "://" + at.Host
		if strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
			addresses[i] += "/…"
		}
	}
	return strings.Join(addresses, ", ")
}
