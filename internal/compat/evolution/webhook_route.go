package evolution

import (
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// webhookFields are a webhook as clients set it; some prefix two of the names.
type webhookFields struct {
	Enabled   *compat.Flag           `json:"enabled"`
	URL       compat.Text            `json:"url"`
	Events    compat.Texts           `json:"events"`
	Headers   map[string]compat.Text `json:"headers"`
	ByEvents  compat.Flag            `json:"byEvents"`
	Base64    compat.Flag            `json:"base64"`
	ByEvents1 compat.Flag            `json:"webhookByEvents"`
	Base641   compat.Flag            `json:"webhookBase64"`
}

// change returns the webhook as the API takes it.
func (f webhookFields) change() client.WebhookChange {
	options := bridge.FormatOptions{Events: f.Events, ByEvents: bool(f.ByEvents || f.ByEvents1), Base64: bool(f.Base64 || f.Base641)}
	for name, value := range f.Headers {
		if options.Headers == nil {
			options.Headers = map[string]string{}
		}
		options.Headers[name] = string(value)
	}
	enabled := f.Enabled == nil || bool(*f.Enabled)
	change := client.WebhookChange{Format: new(bridge.FormatEvolution), Options: &options, Types: new(typesOf(f.Events)), Enabled: &enabled}
	// n8n's node says "vazio" where none is given, as it may be to switch the webhook off.
	if f.URL != "" && (enabled || strings.Contains(string(f.URL), "://")) {
		change.URL = new(string(f.URL))
	}
	return change
}

// setWebhook makes the webhook of the instance, or changes it: there is one a caller.
func setWebhook(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Webhook *webhookFields `json:"webhook"`
		webhookFields
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	fields := in.webhookFields // evolution-api-sdk sends them without the object
	if in.Webhook != nil {
		fields = *in.Webhook
	}
	own, err := compat.OwnWebhooks(c, bridge.FormatEvolution)
	if err != nil {
		return compat.Answer{}, err
	}
	id := int64(0)
	switch {
	case len(own) > 0:
		id = own[0].ID
	case fields.URL == "":
		return compat.Answer{}, bridge.Invalid(`instance requires property "url"`)
	}
	kept, err := compat.KeepWebhook(c, id, fields.change())
	if err != nil {
		return compat.Answer{}, err
	}
	shown, err := showWebhook(c, kept.Webhook)
	return compat.Answer{Status: http.StatusCreated, Body: shown}, err
}

func findWebhook(c *compat.Call) (compat.Answer, error) {
	own, err := compat.OwnWebhooks(c, bridge.FormatEvolution)
	switch {
	case err != nil:
		return compat.Answer{}, err
	case len(own) == 0:
		return compat.OK(nil)
	}
	shown, err := showWebhook(c, own[0])
	return compat.Answer{Status: http.StatusOK, Body: shown}, err
}

func showWebhook(c *compat.Call, w bridge.Webhook) (map[string]any, error) {
	account, err := accountOf(c)
	events := []string{}
	for _, event := range w.Options.Events {
		events = append(events, strings.ToUpper(strings.ReplaceAll(event, ".", "_")))
	}
	return map[string]any{
		"id": recordID("webhook", w.URL), "url": w.URL, "headers": w.Options.Headers, "enabled": w.Enabled, "events": events,
		"webhookByEvents": w.Options.ByEvents, "webhookBase64": w.Options.Base64, "createdAt": w.CreatedAt, "updatedAt": w.UpdatedAt, "instanceId": instanceID(account),
	}, err
}
