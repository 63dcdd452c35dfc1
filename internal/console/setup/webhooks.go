package setup

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

type webhooksPage struct {
	Hooks []bridge.Webhook
	Form  webhookForm // of a new one
	Curl  string
}

// webhookForm holds the fields of a webhook.
type webhookForm struct {
	URL          string
	Types        []bridge.EventType
	Chats        names.Choice
	ExcludeChats names.Choice
	ChatType     bridge.ChatType
	FromMe       string // true, false, or empty for any
	Format       bridge.WebhookFormat
	VerifyToken  string // of the Cloud API's format
	Private      bool
	Wrong        map[string]string
}

// ShowWebhooks shows the webhooks.
func ShowWebhooks(req *frame.Request) error {
	return showWebhooksWith(req, http.StatusOK, webhookForm{})
}

func showWebhooksWith(req *frame.Request, status int, shown webhookForm) (err error) {
	page := webhooksPage{Form: shown, Curl: req.Curl("POST", "/api/webhooks", map[string]any{"url": "https://hooks.example.com/bridged", "types": []string{"message.created"}})}
	if page.Hooks, err = req.API.Webhooks(req.Context()); err != nil {
		return err
	}
	return req.ShowAs(status, "webhooks", "Webhooks", page)
}

// CreateWebhook creates a webhook and shows its secret.
func CreateWebhook(req *frame.Request) error {
	f := req.Filled()
	shown, change, err := readWebhook(req, f)
	if err != nil {
		return err
	}
	if len(f.Wrong) > 0 {
		return showWebhooksWith(req, http.StatusBadRequest, shown)
	}
	made, err := req.API.CreateWebhook(req.Context(), change)
	if err == nil {
		return req.ShowOnce(webhookPath(made.ID), made)
	}
	status, err := req.Refusal(f, err, webhookFields)
	if err != nil {
		return err
	}
	return showWebhooksWith(req, status, shown)
}

// webhookFields has the labels of the API's fields.
var webhookFields = map[string]frame.Label{
	"url": {Field: "url", Label: "The address"}, "types": {Field: "type", Label: "Events"}, "chats": {Field: "chats", Label: "Only these chats"}, "excludeChats": {Field: "excludeChats", Label: "Except these chats"},
	"allowPrivate": {Field: "private", Label: "Allow a private address"}, "format": {Field: "format", Label: "Format"}, "formatOptions.verifyToken": {Field: "verifyToken", Label: "The verify token"},
}

// readWebhook reads the form of a webhook, for the page and for the API.
func readWebhook(req *frame.Request, f *frame.Form) (shown webhookForm, change client.WebhookChange, err error) {
	shown = webhookForm{
		URL: strings.TrimSpace(f.Get("url")), Types: view.Typed[bridge.EventType](f.Values["type"]), ChatType: bridge.ChatType(f.Get("chatType")),
		FromMe: f.Get("fromMe"), Format: bridge.WebhookFormat(f.Get("format")), VerifyToken: strings.TrimSpace(f.Get("verifyToken")), Private: f.Get("private") != "", Wrong: f.Wrong,
	}
	if shown.URL == "" {
		f.Refuse("url", "Enter the address that events are posted to.")
	}
	if shown.Chats, err = names.Choose(req, f, "chats"); err == nil {
		shown.ExcludeChats, err = names.Choose(req, f, "excludeChats")
	}
	var fromMe *bool
	if own, err := strconv.ParseBool(shown.FromMe); err == nil {
		fromMe = &own
	}
	return shown, client.WebhookChange{
		URL: &shown.URL, Types: &shown.Types, Chats: new(texts(shown.Chats.Jids())), ExcludeChats: new(texts(shown.ExcludeChats.Jids())),
		ChatType: &shown.ChatType, FromMe: &fromMe, AllowPrivate: &shown.Private, Format: &shown.Format, Options: shown.options(),
	}, err
}

// options returns the format settings of a new webhook.
func (f webhookForm) options() *bridge.FormatOptions {
	if f.Format != bridge.FormatCloud {
		return new(bridge.FormatOptions)
	}
	return &bridge.FormatOptions{VerifyToken: f.VerifyToken}
}

// texts returns JIDs as strings.
func texts(jids []bridge.JID) []string {
	list := make([]string, len(jids))
	for i, jid := range jids {
		list[i] = string(jid)
	}
	return list
}

// formOf returns the stored fields of a webhook.
func formOf(req *frame.Request, hook bridge.Webhook) webhookForm {
	shown := webhookForm{
		URL: hook.URL, Types: hook.Types, Chats: names.ChoiceOf(req, hook.Chats...), ExcludeChats: names.ChoiceOf(req, hook.ExcludeChats...), ChatType: hook.ChatType, Private: hook.AllowPrivate,
		Format: hook.Format, VerifyToken: hook.Options.VerifyToken,
	}
	if hook.FromMe != nil {
		shown.FromMe = strconv.FormatBool(*hook.FromMe)
	}
	return shown
}

// whose returns the authors of a filter, "own" or "others"; empty for all.
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
	Fixed      bool   // set by the environment, which alone changes it
	Secret     string // shown once
	Form       webhookForm
	Status     bridge.DeliveryState
	Deliveries []deliveryRow
	More       string
	Curl       string
}

type deliveryRow struct {
	bridge.WebhookDelivery
	Chat names.Entry
}

// ShowWebhook shows a webhook with its deliveries.
func ShowWebhook(req *frame.Request) error {
	hook, err := req.API.Webhook(req.Context(), req.Number)
	if err != nil {
		return err
	}
	return showWebhookWith(req, http.StatusOK, webhookPage{Hook: hook, Secret: frame.Result[client.Webhook](req).Secret})
}

func showWebhookWith(req *frame.Request, status int, page webhookPage) (err error) {
	asked := req.URL.Query()
	page.Fixed, page.Curl = page.Hook.Source == bridge.WebhookFromEnvironment, req.Curl("GET", fmt.Sprintf("/api/webhooks/%d/deliveries", page.Hook.ID), nil)
	if page.Form.Wrong == nil {
		page.Form = formOf(req, page.Hook)
	}
	switch status := bridge.DeliveryState(asked.Get("status")); status {
	case bridge.WebhookPending, bridge.WebhookDelivered, bridge.WebhookDead:
		page.Status = status
	}
	deliveries, err := req.API.Deliveries(req.Context(), bridge.DeliveryQuery{Webhook: page.Hook.ID, Status: page.Status, Limit: 50, Cursor: asked.Get("cursor")})
	if err != nil {
		return err
	}
	for _, delivery := range deliveries.Items {
		row := deliveryRow{WebhookDelivery: delivery}
		if delivery.ChatJID != "" {
			row.Chat = names.EntryFor(req, delivery.ChatJID)
		}
		page.Deliveries = append(page.Deliveries, row)
	}
	page.More = view.NextPage(webhookPath(page.Hook.ID), asked, "cursor", deliveries.NextCursor)
	return req.ShowAs(status, "webhook", "Webhook", page)
}

func webhookPath(id int64) string { return fmt.Sprintf("%s/webhooks/%d", view.Root, id) }

// ChangeWebhook runs the action of a button.
func ChangeWebhook(req *frame.Request) error {
	ctx := req.Context()
	update := func(text string, change client.WebhookChange) error {
		_, err := req.API.UpdateWebhook(ctx, req.Number, change)
		return req.Done(err, text, webhookPath(req.Number))
	}
	switch req.PostForm.Get("do") {
	case "save":
		return saveWebhook(req)
	case "on":
		return update("Turned on. Events that were waiting are being posted now.", client.WebhookChange{Enabled: new(true)})
	case "off":
		return update("Turned off. Events wait until you turn it on again.", client.WebhookChange{Enabled: new(false)})
	case "rotate":
		hook, err := req.API.UpdateWebhook(ctx, req.Number, client.WebhookChange{RotateSecret: true})
		if err != nil {
			return err
		}
		return req.ShowOnce(webhookPath(req.Number), hook)
	case "test":
		return testWebhook(req)
	case "delete":
		return req.Done(req.API.DeleteWebhook(ctx, req.Number), "Webhook deleted", view.Root+"/webhooks")
	}
	return frame.ErrOutdated
}

// saveWebhook saves the form of a webhook, or shows it again with its errors.
func saveWebhook(req *frame.Request) error {
	f := req.Filled()
	shown, change, err := readWebhook(req, f)
	if err != nil {
		return err
	}
	status := http.StatusBadRequest
	if len(f.Wrong) == 0 {
		if change.Options, err = mergedOptions(req, shown); err != nil {
			return err
		}
		_, err := req.API.UpdateWebhook(req.Context(), req.Number, change)
		if err == nil {
			return req.Done(nil, "Saved", webhookPath(req.Number))
		}
		if status, err = req.Refusal(f, err, webhookFields); err != nil {
			return err
		}
	}
	hook, err := req.API.Webhook(req.Context(), req.Number)
	if err != nil {
		return err
	}
	return showWebhookWith(req, status, webhookPage{Hook: hook, Form: shown})
}

// mergedOptions returns the stored settings of a webhook's format with the values of the form. A new
// format only retains the headers.
func mergedOptions(req *frame.Request, shown webhookForm) (*bridge.FormatOptions, error) {
	hook, err := req.API.Webhook(req.Context(), req.Number)
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

// formats has the names of the formats of webhooks.
var formats = map[bridge.WebhookFormat]string{
	bridge.FormatBridged: "bridged", bridge.FormatWAHA: "WAHA", bridge.FormatEvolution: "Evolution API", bridge.FormatCloud: "WhatsApp Cloud API",
}

func formatName(format bridge.WebhookFormat) string { return formats[format] }

// testWebhook posts a test, and shows the receiver's answer.
func testWebhook(req *frame.Request) error {
	tried, err := req.API.TestWebhook(req.Context(), req.Number)
	if err != nil {
		return err
	}
	if tried.OK {
		return req.Done(nil, fmt.Sprintf("The test was accepted: the receiver answered %d after %d ms.", *tried.ResponseStatus, tried.DurationMS), webhookPath(req.Number))
	}
	why := fmt.Sprintf("The test failed after %d ms.", tried.DurationMS)
	if tried.Error != nil {
		why += " " + view.Sentence(*tried.Error)
	}
	if req.WantsJSON() {
		return frame.Titled(http.StatusBadGateway, "The test failed", why)
	}
	req.Notify(why, true)
	return req.Done(nil, "", webhookPath(req.Number))
}

// Redeliver posts a delivery again.
func Redeliver(req *frame.Request) error {
	_, err := req.API.Redeliver(req.Context(), req.Number, req.Delivery)
	return req.Done(err, "Sending it again.", webhookPath(req.Number))
}
