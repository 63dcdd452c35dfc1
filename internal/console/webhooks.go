package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

type webhooksPage struct {
	Hooks []bridge.Webhook
	Form  webhookForm // of a new one
	Known []named
	Curl  string
}

// webhookForm holds the fields of a webhook.
type webhookForm struct {
	URL          string
	Types        []bridge.EventType
	Chats        choice
	ExcludeChats choice
	ChatType     bridge.ChatType
	FromMe       string // true, false, or empty for any
	Format       bridge.WebhookFormat
	VerifyToken  string // of the Cloud API's format
	Private      bool
	Wrong        map[string]string
}

func (c *Console) showWebhooks(v *visit) error {
	return v.showWebhooksWith(http.StatusOK, webhookForm{})
}

func (v *visit) showWebhooksWith(status int, shown webhookForm) (err error) {
	page := webhooksPage{Form: shown, Curl: curl("POST", "/api/webhooks", map[string]any{"url": "https://hooks.example.com/bridged", "types": []string{"message.created"}})}
	if page.Hooks, err = v.api.Webhooks(v.r.Context()); err != nil {
		return err
	}
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	return v.showAs(status, "webhooks", "Webhooks", page)
}

func (c *Console) createWebhook(v *visit) error {
	f := v.form()
	shown, change, err := v.webhookForm(f)
	if err != nil {
		return err
	}
	if len(f.Wrong) > 0 {
		return v.showWebhooksWith(http.StatusBadRequest, shown)
	}
	made, err := v.api.CreateWebhook(v.r.Context(), change)
	if err == nil {
		return v.showWebhookWith(http.StatusOK, webhookPage{Hook: made.Webhook, Secret: made.Secret})
	}
	status, err := v.refusal(f, err, webhookFields)
	if err != nil {
		return err
	}
	return v.showWebhooksWith(status, shown)
}

// webhookFields names the fields of the API as the page calls them.
var webhookFields = map[string]words{
	"url": {"url", "The address"}, "types": {"type", "Events"}, "chats": {"chats", "Only these chats"}, "excludeChats": {"excludeChats", "Except these chats"},
	"allowPrivate": {"private", "Allow a private address"}, "format": {"format", "Format"}, "formatOptions.verifyToken": {"verifyToken", "The verify token"},
}

// webhookForm reads the form of a webhook, as the page shows it and as the API takes it.
func (v *visit) webhookForm(f *form) (shown webhookForm, change client.WebhookChange, err error) {
	shown = webhookForm{
		URL: strings.TrimSpace(f.Get("url")), Types: typed[bridge.EventType](f.Values["type"]), ChatType: bridge.ChatType(f.Get("chatType")),
		FromMe: f.Get("fromMe"), Format: bridge.WebhookFormat(f.Get("format")), VerifyToken: strings.TrimSpace(f.Get("verifyToken")), Private: f.Get("private") != "", Wrong: f.Wrong,
	}
	if shown.URL == "" {
		f.refuse("url", "Enter the address that events are posted to.")
	}
	if shown.Chats, err = v.choose(f, "chats"); err == nil {
		shown.ExcludeChats, err = v.choose(f, "excludeChats")
	}
	var fromMe *bool
	if own, err := strconv.ParseBool(shown.FromMe); err == nil {
		fromMe = &own
	}
	return shown, client.WebhookChange{
		URL: &shown.URL, Types: &shown.Types, Chats: new(texts(shown.Chats.jids())), ExcludeChats: new(texts(shown.ExcludeChats.jids())),
		ChatType: &shown.ChatType, FromMe: &fromMe, AllowPrivate: &shown.Private, Format: &shown.Format, Options: shown.options(),
	}, err
}

// options returns the settings of the format that a new webhook has.
func (f webhookForm) options() *bridge.FormatOptions {
	if f.Format != bridge.FormatCloud {
		return new(bridge.FormatOptions)
	}
	return &bridge.FormatOptions{VerifyToken: f.VerifyToken}
}

// texts returns JIDs as the API's requests hold them.
func texts(jids []bridge.JID) []string {
	list := make([]string, len(jids))
	for i, jid := range jids {
		list[i] = string(jid)
	}
	return list
}

// formOf returns the fields of a webhook as they are.
func (v *visit) formOf(hook bridge.Webhook) webhookForm {
	shown := webhookForm{
		URL: hook.URL, Types: hook.Types, Chats: v.choiceOf(hook.Chats...), ExcludeChats: v.choiceOf(hook.ExcludeChats...), ChatType: hook.ChatType, Private: hook.AllowPrivate,
		Format: hook.Format, VerifyToken: hook.Options.VerifyToken,
	}
	if hook.FromMe != nil {
		shown.FromMe = strconv.FormatBool(*hook.FromMe)
	}
	return shown
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
	Form       webhookForm
	Known      []named
	Status     bridge.DeliveryState
	Deliveries []deliveryRow
	More       string
	Curl       string
}

type deliveryRow struct {
	bridge.WebhookDelivery
	Chat named
}

func (c *Console) showWebhook(v *visit) error {
	hook, err := v.api.Webhook(v.r.Context(), v.number)
	if err != nil {
		return err
	}
	return v.showWebhookWith(http.StatusOK, webhookPage{Hook: hook})
}

func (v *visit) showWebhookWith(status int, page webhookPage) (err error) {
	asked := v.r.URL.Query()
	page.Fixed, page.Curl = page.Hook.Source == bridge.WebhookFromEnvironment, curl("GET", fmt.Sprintf("/api/webhooks/%d/deliveries", page.Hook.ID), nil)
	if page.Form.Wrong == nil {
		page.Form = v.formOf(page.Hook)
	}
	switch status := bridge.DeliveryState(asked.Get("status")); status {
	case bridge.WebhookPending, bridge.WebhookDelivered, bridge.WebhookDead:
		page.Status = status
	}
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	deliveries, err := v.api.Deliveries(v.r.Context(), bridge.DeliveryQuery{Webhook: page.Hook.ID, Status: page.Status, Limit: 50, Cursor: asked.Get("cursor")})
	if err != nil {
		return err
	}
	for _, delivery := range deliveries.Items {
		row := deliveryRow{WebhookDelivery: delivery}
		if delivery.ChatJID != "" {
			row.Chat = v.named(delivery.ChatJID)
		}
		page.Deliveries = append(page.Deliveries, row)
	}
	page.More = more(webhookPath(page.Hook.ID), asked, "cursor", deliveries.NextCursor)
	return v.showAs(status, "webhook", "Webhook", page)
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
		return v.saveWebhook()
	case "on":
		return update("Turned on. Events that were waiting are being posted now.", client.WebhookChange{Enabled: new(true)})
	case "off":
		return update("Turned off. Events wait until you turn it on again.", client.WebhookChange{Enabled: new(false)})
	case "rotate":
		hook, err := v.api.UpdateWebhook(ctx, v.number, client.WebhookChange{RotateSecret: true})
		if err != nil {
			return err
		}
		return v.showWebhookWith(http.StatusOK, webhookPage{Hook: hook.Webhook, Secret: hook.Secret})
	case "test":
		return v.testWebhook()
	case "delete":
		return v.done(v.api.DeleteWebhook(ctx, v.number), "The webhook was deleted.", root+"/webhooks")
	}
	return errOutdated
}

// saveWebhook carries out the form of a webhook, or shows it again with its faults.
func (v *visit) saveWebhook() error {
	f := v.form()
	shown, change, err := v.webhookForm(f)
	if err != nil {
		return err
	}
	status := http.StatusBadRequest
	if len(f.Wrong) == 0 {
		if change.Options, err = v.keptOptions(shown); err != nil {
			return err
		}
		_, err := v.api.UpdateWebhook(v.r.Context(), v.number, change)
		if err == nil {
			return v.done(nil, "Saved.", webhookPath(v.number))
		}
		if status, err = v.refusal(f, err, webhookFields); err != nil {
			return err
		}
	}
	hook, err := v.api.Webhook(v.r.Context(), v.number)
	if err != nil {
		return err
	}
	return v.showWebhookWith(status, webhookPage{Hook: hook, Form: shown})
}

// keptOptions returns the settings of a webhook's format, with what the form has of them.
// Another format has only the headers of the old one.
func (v *visit) keptOptions(shown webhookForm) (*bridge.FormatOptions, error) {
	hook, err := v.api.Webhook(v.r.Context(), v.number)
	if err != nil {
		return nil, err
	}
	options := shown.options()
	if hook.Format == shown.Format {
		token := options.VerifyToken
		*options = hook.Options
		options.VerifyToken = token
	}
	options.Headers = hook.Options.Headers
	return options, nil
}

// formats names the formats of webhooks as people know them.
var formats = map[bridge.WebhookFormat]string{
	bridge.FormatBridged: "bridged", bridge.FormatWAHA: "WAHA", bridge.FormatEvolution: "Evolution API", bridge.FormatCloud: "WhatsApp Cloud API",
}

func formatName(format bridge.WebhookFormat) string { return formats[format] }

// testWebhook posts a test, and shows the receiver's answer.
func (v *visit) testWebhook() error {
	tried, err := v.api.TestWebhook(v.r.Context(), v.number)
	if err != nil {
		return err
	}
	if tried.OK {
		return v.done(nil, fmt.Sprintf("The test was accepted: the receiver answered %d after %d ms.", *tried.ResponseStatus, tried.DurationMS), webhookPath(v.number))
	}
	why := fmt.Sprintf("The test failed after %d ms.", tried.DurationMS)
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
	return v.done(err, "Sending it again.", webhookPath(v.number))
}
