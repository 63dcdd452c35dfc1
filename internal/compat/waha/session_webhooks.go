package waha

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// sessionConfig is the configuration of a session. bridged only has webhooks.
type sessionConfig struct {
	Metadata map[string]any `json:"metadata"`
	Webhooks []sessionHook  `json:"webhooks"`
}

// sessionHook is a webhook of a session. bridged ignores its retries and tries for three days.
type sessionHook struct {
	URL           string          `json:"url"`
	Events        []string        `json:"events"`
	HMAC          *hmacKey        `json:"hmac"`
	Retries       json.RawMessage `json:"retries"` // always null
	CustomHeaders []hookHeader    `json:"customHeaders"`
}

type hmacKey struct {
	Key *string `json:"key"`
}

type hookHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// shownWebhooks returns the caller's webhooks in WAHA's form, without keys and the values of headers. It
// returns none if the caller may see none.
func shownWebhooks(c *compat.Call) ([]sessionHook, error) {
	webhooks, err := compat.OwnWebhooks(c, bridge.FormatWAHA)
	if bridge.CodeOf(err) == bridge.CodeForbidden {
		err = nil
	}
	shown := []sessionHook{}
	for _, w := range webhooks {
		one := sessionHook{URL: w.URL, Events: w.Options.Events, CustomHeaders: []hookHeader{}}
		for _, name := range slices.Sorted(maps.Keys(w.Options.Headers)) {
			one.CustomHeaders = append(one.CustomHeaders, hookHeader{name, w.Options.Headers[name]})
		}
		shown = append(shown, one)
	}
	return shown, err
}

// sessionBody is the body of [setSession].
type sessionBody struct {
	Name   string `json:"name"`
	Config struct {
		Webhooks *[]sessionHook `json:"webhooks"`
	} `json:"config"`
}

// setSession replaces the webhooks of the session with those of the body, if it has any. Nothing else of a
// session can be changed.
func setSession(c *compat.Call, in sessionBody) (any, error) {
	if err := checkSession(in.Name); err != nil {
		return nil, err
	}
	if in.Config.Webhooks != nil {
		if _, err := infoOf(c); err != nil { // the answer needs it: nothing changes if it is refused
			return nil, err
		}
		if err := setWebhooks(c, *in.Config.Webhooks); err != nil {
			return nil, err
		}
	}
	return infoOf(c)
}

// setWebhooks adds the webhooks of a list, changes those with the same address, and removes the others. If one
// is refused, nothing changes.
func setWebhooks(c *compat.Call, list []sessionHook) error {
	present, err := compat.OwnWebhooks(c, bridge.FormatWAHA)
	if err != nil {
		return err
	}
	ids := make([]int64, len(list)) // 0 for a new one
	for n, hook := range list {
		if i := slices.IndexFunc(present, func(w bridge.Webhook) bool { return w.URL == hook.URL }); i >= 0 {
			ids[n] = present[i].ID
			present = slices.Delete(present, i, i+1)
		}
		change := hook.change()
		change.DryRun = true
		if _, err := compat.SaveWebhook(c, ids[n], change); err != nil {
			return err
		}
	}
	if err := addWebhooks(c, list, ids); err != nil {
		return err
	}
	for n, hook := range list {
		if ids[n] == 0 {
			continue
		}
		if _, err := compat.SaveWebhook(c, ids[n], hook.change()); err != nil {
			return err
		}
	}
	for _, w := range present {
		if err := c.API.DeleteWebhook(c.Context(), w.ID); err != nil {
			return err
		}
	}
	return nil
}

// addWebhooks adds the new webhooks of a list. If there are too many and one is refused, it removes them again.
func addWebhooks(c *compat.Call, list []sessionHook, ids []int64) error {
	var added []int64
	for n, hook := range list {
		if ids[n] != 0 {
			continue
		}
		created, err := compat.SaveWebhook(c, 0, hook.change())
		if err != nil {
			for _, id := range added {
				err = errors.Join(err, c.API.DeleteWebhook(c.Context(), id))
			}
			return err
		}
		added = append(added, created.ID)
	}
	return nil
}

// change returns the webhook in the API's form.
func (h sessionHook) change() client.WebhookChange {
	options := bridge.FormatOptions{Events: h.Events}
	for _, header := range h.CustomHeaders {
		if options.Headers == nil {
			options.Headers = map[string]string{}
		}
		options.Headers[header.Name] = header.Value
	}
	change := client.WebhookChange{URL: &h.URL, Format: new(bridge.FormatWAHA), Options: &options, Types: new(typesOf(h.Events)), Enabled: new(true)}
	if h.HMAC != nil {
		change.Secret = h.HMAC.Key
	}
	return change
}
