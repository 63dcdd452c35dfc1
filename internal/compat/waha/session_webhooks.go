package waha

import (
	"maps"
	"net/http"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// sessionConfig is what a session is made with; of it bridged has the webhooks.
type sessionConfig struct {
	Metadata map[string]any `json:"metadata"`
	Webhooks []sessionHook  `json:"webhooks"`
}

// sessionHook is a webhook of a session. bridged tries again in its own way, for three days.
type sessionHook struct {
	URL           string       `json:"url"`
	Events        []string     `json:"events"`
	HMAC          *hmacKey     `json:"hmac"`
	Retries       any          `json:"retries"`
	CustomHeaders []hookHeader `json:"customHeaders"`
}

type hmacKey struct {
	Key *string `json:"key"`
}

type hookHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// shownWebhooks shows the caller's webhooks as WAHA does, without their keys; none to
// callers who may see no webhooks.
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

func createSession(c *compat.Call) (compat.Answer, error) { return setSession(c, http.StatusCreated) }

func updateSession(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	return setSession(c, http.StatusOK)
}

// setSession makes the webhooks of the session those that the body lists, if it lists any.
// Nothing else of a session can be changed.
func setSession(c *compat.Call, status int) (compat.Answer, error) {
	var in struct {
		Name   string `json:"name"`
		Config struct {
			Webhooks *[]sessionHook `json:"webhooks"`
		} `json:"config"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if err := checkSession(in.Name); err != nil {
		return compat.Answer{}, err
	}
	if in.Config.Webhooks != nil {
		if err := setWebhooks(c, *in.Config.Webhooks); err != nil {
			return compat.Answer{}, err
		}
	}
	return answerInfo(c, status)
}

// setWebhooks adds the webhooks of a list, changes those that stand at the same address, and
// removes the others.
func setWebhooks(c *compat.Call, list []sessionHook) error {
	present, err := compat.OwnWebhooks(c, bridge.FormatWAHA)
	if err != nil {
		return err
	}
	for _, hook := range list {
		id := int64(0)
		if i := slices.IndexFunc(present, func(w bridge.Webhook) bool { return w.URL == hook.URL }); i >= 0 {
			id = present[i].ID
			present = slices.Delete(present, i, i+1)
		}
		if _, err := compat.KeepWebhook(c, id, hook.change()); err != nil {
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

// change returns a webhook as the API takes it.
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
