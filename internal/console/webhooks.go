package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

func (c *Console) showWebhooks(v *visit) error {
	hooks, err := v.api.Webhooks(v.r.Context())
	if err != nil {
		return err
	}
	return v.show("webhooks", "Webhooks", struct {
		Hooks []bridge.Webhook
		None  bridge.EventFilter // of a new one
		Curl  string
	}{
		Hooks: hooks,
		Curl:  curl("POST", "/api/webhooks", map[string]any{"url": "https://hooks.example.com/bridged", "types": []string{"message.created"}}),
	})
}

func (c *Console) createWebhook(v *visit) error {
	return v.showWebhookWith(v.api.CreateWebhook(v.r.Context(), v.webhookForm()))
}

func (v *visit) webhookForm() client.WebhookChange {
	form := v.r.PostForm
	var fromMe *bool
	if own, err := strconv.ParseBool(form.Get("fromMe")); err == nil {
		fromMe = &own
	}
	return client.WebhookChange{
		URL: new(strings.TrimSpace(form.Get("url"))), Types: new(typed[bridge.EventType](form["type"])), Chats: new(jidsIn(form.Get("chats"))), ExcludeChats: new(jidsIn(form.Get("excludeChats"))),
		ChatType: new(bridge.ChatType(form.Get("chatType"))), FromMe: &fromMe, AllowPrivate: new(form.Get("private") != ""),
	}
}

// jidsIn reads a field for several chats, with lines, commas or spaces between them.
func jidsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

// whose returns the authors that a filter wants, "own" or "others"; empty for all.
func whose(fromMe *bool) string {
	switch {
	case fromMe == nil:
		return ""
	case *fromMe:
		return "own"
	}
	return "others"
}

type webhookPage struct {
	Hook       bridge.Webhook
	Fixed      bool   // by the environment, which alone changes it
	Secret     string // shown once
	Status     bridge.DeliveryState
	Deliveries []bridge.WebhookDelivery
	More       string
	Curl       string
}

func (c *Console) showWebhook(v *visit) error {
	hook, err := v.api.Webhook(v.r.Context(), v.number)
	return v.showWebhookWith(client.Webhook{Webhook: hook}, err)
}

func (v *visit) showWebhookWith(hook client.Webhook, err error) error {
	if err != nil {
		return err
	}
	asked := v.r.URL.Query()
	page := webhookPage{
		Hook: hook.Webhook, Fixed: hook.Source == bridge.WebhookFromEnvironment, Secret: hook.Secret,
		Curl: curl("GET", fmt.Sprintf("/api/webhooks/%d/deliveries", hook.ID), nil),
	}
	switch status := bridge.DeliveryState(asked.Get("status")); status {
	case bridge.WebhookPending, bridge.WebhookDelivered, bridge.WebhookDead:
		page.Status = status
	}
	deliveries, err := v.api.Deliveries(v.r.Context(), bridge.DeliveryQuery{Webhook: hook.ID, Status: page.Status, Limit: 50, Cursor: asked.Get("cursor")})
	if err != nil {
		return err
	}
	page.Deliveries, page.More = deliveries.Items, more(webhookPath(hook.ID), asked, "cursor", deliveries.NextCursor)
	return v.show("webhook", "Webhook", page)
}

func webhookPath(id int64) string { return fmt.Sprintf("%s/webhooks/%d", root, id) }

// changeWebhook carries out the button of a webhook's page.
func (c *Console) changeWebhook(v *visit) error {
	ctx := v.r.Context()
	update := func(text string, change client.WebhookChange) error {
		_, err := v.api.UpdateWebhook(ctx, v.number, change)
		return v.done(err, text, webhookPath(v.number))
	}
	switch v.r.PostForm.Get("do") {
	case "save":
		return update("Saved.", v.webhookForm())
	case "on":
		return update("Switched on: pending events are posted now.", client.WebhookChange{Enabled: new(true)})
	case "off":
		return update("Switched off: events wait until it is on again.", client.WebhookChange{Enabled: new(false)})
	case "rotate":
		return v.showWebhookWith(v.api.UpdateWebhook(ctx, v.number, client.WebhookChange{RotateSecret: true}))
	case "test":
		return v.testWebhook()
	case "delete":
		return v.done(v.api.DeleteWebhook(ctx, v.number), "The webhook is removed.", root+"/webhooks")
	}
	return errOutdated
}

// testWebhook posts a test, and shows the receiver's answer.
func (v *visit) testWebhook() error {
	tried, err := v.api.TestWebhook(v.r.Context(), v.number)
	if err != nil {
		return err
	}
	if tried.OK {
		return v.done(nil, fmt.Sprintf("The receiver took the test with %d after %d ms.", *tried.ResponseStatus, tried.DurationMS), webhookPath(v.number))
	}
	why := fmt.Sprintf("The receiver did not take the test after %d ms.", tried.DurationMS)
	if tried.Error != nil {
		why += " " + sentence(*tried.Error)
	}
	if wantsJSON(v.r) {
		return problem{http.StatusBadGateway, "The test failed", why, ""}
	}
	v.session.notice.Store(&notice{Text: why, Failed: true})
	return v.done(nil, "", webhookPath(v.number))
}

func (c *Console) redeliver(v *visit) error {
	_, err := v.api.Redeliver(v.r.Context(), v.number, v.delivery)
	return v.done(err, "It is posted again.", webhookPath(v.number))
}
