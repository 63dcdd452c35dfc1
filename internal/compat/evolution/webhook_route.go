package evolution

import (
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// webhookFields is a webhook in a request. Some clients prefix two of the names.
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

// change returns the webhook in the API's form.
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
	// n8n's node sends "vazio" if the user gives no URL, as is possible for a disabled webhook.
	if f.URL != "" && (enabled || strings.Contains(string(f.URL), "://")) {
		change.URL = new(string(f.URL))
	}
	return change
}

// setWebhookBody is the body of [setWebhook]. evolution-api-sdk sends the fields without the object.
type setWebhookBody struct {
	Webhook *webhookFields `json:"webhook"`
	webhookFields
}

// setWebhook creates or changes the caller's only webhook.
func setWebhook(c *compat.Call, in setWebhookBody) (any, error) {
	fields := in.webhookFields
	if in.Webhook != nil {
		fields = *in.Webhook
	}
	own, err := compat.OwnWebhooks(c, bridge.FormatEvolution)
	if err != nil {
		return nil, err
	}
	id := int64(0)
	switch {
	case len(own) > 0:
		id = own[0].ID
	case fields.URL == "":
		return nil, bridge.Invalid(`instance requires property "url"`)
	}
	saved, err := compat.SaveWebhook(c, id, fields.change())
	if err != nil {
		return nil, err
	}
	return showWebhook(c, saved.Webhook)
}

func findWebhook(c *compat.Call) (any, error) {
	own, err := compat.OwnWebhooks(c, bridge.FormatEvolution)
	if err != nil || len(own) == 0 {
		return nil, err
	}
	return showWebhook(c, own[0])
}

func showWebhook(c *compat.Call, w bridge.Webhook) (any, error) {
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
