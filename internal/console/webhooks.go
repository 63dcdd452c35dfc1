package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// webhooksPage lists all webhooks, with a form for another one.
type webhooksPage struct {
	Hooks []bridge.Webhook
	Types []eventType
	None  bridge.EventFilter // of a new one
	Curl  string
}

// showWebhooks answers the list of webhooks.
func (c *Console) showWebhooks(v *visit) (err error) {
	page := webhooksPage{Types: typesOf(nil), Curl: curlPost("/api/webhooks", map[string]any{"url": "https://hooks.example.com/bridged", "types": []string{"message.created"}})}
	if page.Hooks, err = v.api.Webhooks(v.r.Context()); err != nil {
		return err
	}
	v.show(http.StatusOK, "webhooks", "Webhooks", page)
	return nil
}

// typesOf returns all types of events, with those that are chosen.
func typesOf(chosen []bridge.EventType) (types []eventType) {
	for _, name := range bridge.EventTypes() {
		types = append(types, eventType{string(name), slices.Contains(chosen, name)})
	}
	return types
}

// createWebhook makes a webhook, and shows its secret once.
func (c *Console) createWebhook(v *visit) error {
	hook, err := v.api.CreateWebhook(v.r.Context(), v.webhookForm())
	if err != nil {
		return err
	}
	return v.showWebhookWith(hook.Webhook, hook.Secret)
}

// webhookForm reads the form of a webhook.
func (v *visit) webhookForm() client.WebhookChange {
	form := v.r.PostForm
	url, private, kind := strings.TrimSpace(form.Get("url")), form.Get("private") != "", bridge.ChatType(form.Get("chatType"))
	types := make([]bridge.EventType, 0, len(form["type"]))
	for _, name := range form["type"] {
		types = append(types, bridge.EventType(name))
	}
	chats, exclude := jidsIn(form.Get("chats")), jidsIn(form.Get("excludeChats"))
	var fromMe *bool
	if own, err := strconv.ParseBool(form.Get("fromMe")); err == nil {
		fromMe = &own
	}
	return client.WebhookChange{
		URL: &url, Types: &types, Chats: &chats, ExcludeChats: &exclude, ChatType: &kind, FromMe: &fromMe, AllowPrivate: &private,
	}
}

// jidsIn returns what people write into a field for several chats: one a line,
// or with commas or spaces between.
func jidsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

// jids returns chats as a form has them, each on a line.
func jids(chats []bridge.JID) string {
	lines := make([]string, len(chats))
	for i, jid := range chats {
		lines[i] = string(jid)
	}
	return strings.Join(lines, "\n")
}

// whose returns whose messages a filter wants, empty for everybody's.
func whose(fromMe *bool) string {
	switch {
	case fromMe == nil:
		return ""
	case *fromMe:
		return "own"
	}
	return "others"
}

// webhookPage is one webhook with its deliveries.
type webhookPage struct {
	Hook       bridge.Webhook
	Fixed      bool   // by the environment, which alone changes it
	Secret     string // shown once
	Status     bridge.DeliveryState
	Deliveries []bridge.WebhookDelivery
	More       string
	Types      []eventType
	Curl       string
}

// showWebhook answers one webhook.
func (c *Console) showWebhook(v *visit) error {
	id, err := v.number("id")
	if err != nil {
		return err
	}
	hook, err := v.api.Webhook(v.r.Context(), id)
	if err != nil {
		return err
	}
	return v.showWebhookWith(hook, "")
}

func (v *visit) showWebhookWith(hook bridge.Webhook, secret string) (err error) {
	asked := v.r.URL.Query()
	page := webhookPage{Hook: hook, Fixed: hook.Source == bridge.WebhookFromEnvironment, Secret: secret, Types: typesOf(hook.Types), Curl: curlGet("/api/webhooks/" + strconv.FormatInt(hook.ID, 10) + "/deliveries")}
	switch status := bridge.DeliveryState(asked.Get("status")); status {
	case bridge.WebhookPending, bridge.WebhookDelivered, bridge.WebhookDead:
		page.Status = status
	}
	deliveries, err := v.api.Deliveries(v.r.Context(), bridge.DeliveryQuery{Webhook: hook.ID, Status: page.Status, Limit: 50, Cursor: asked.Get("cursor")})
	if err != nil {
		return err
	}
	page.Deliveries = deliveries.Items
	if deliveries.NextCursor != nil {
		asked.Set("cursor", *deliveries.NextCursor)
		page.More = webhookPath(hook.ID) + "?" + asked.Encode()
	}
	v.show(http.StatusOK, "webhook", "Webhook", page)
	return nil
}

func webhookPath(id int64) string { return root + "/webhooks/" + strconv.FormatInt(id, 10) }

// number returns a number that the path names.
func (v *visit) number(name string) (int64, error) {
	n, err := strconv.ParseInt(v.r.PathValue(name), 10, 64)
	if err != nil {
		return 0, errUnknown
	}
	return n, nil
}

// changeWebhook does what a button of a webhook's page says.
func (c *Console) changeWebhook(v *visit) error {
	id, err := v.number("id")
	if err != nil {
		return err
	}
	update := func(text string, change client.WebhookChange) error {
		_, err := v.api.UpdateWebhook(v.r.Context(), id, change)
		return v.after(err, text, webhookPath(id))
	}
	on, off := true, false
	switch v.r.PostForm.Get("do") {
	case "save":
		return update("Saved.", v.webhookForm())
	case "on":
		return update("Switched on: what is pending is posted now.", client.WebhookChange{Enabled: &on})
	case "off":
		return update("Switched off: events wait until it is on again.", client.WebhookChange{Enabled: &off})
	case "rotate":
		hook, err := v.api.UpdateWebhook(v.r.Context(), id, client.WebhookChange{RotateSecret: true})
		if err != nil {
			return err
		}
		return v.showWebhookWith(hook.Webhook, hook.Secret)
	case "test":
		return c.testWebhook(v, id)
	case "delete":
		return v.after(v.api.DeleteWebhook(v.r.Context(), id), "The webhook is removed.", root+"/webhooks")
	}
	return errOutdated
}

// testWebhook posts a test and tells what the receiver made of it.
func (c *Console) testWebhook(v *visit, id int64) error {
	tried, err := v.api.TestWebhook(v.r.Context(), id)
	if err != nil {
		return err
	}
	took := " after " + strconv.FormatInt(tried.DurationMS, 10) + " ms."
	if tried.OK {
		return v.done("The receiver took the test with "+strconv.Itoa(*tried.ResponseStatus)+took, webhookPath(id))
	}
	why := "The receiver did not take the test" + took
	if tried.Error != nil {
		why += " " + sentence(*tried.Error)
	}
	if wantsJSON(v.r) {
		return problem{http.StatusBadGateway, "The test failed", why, ""}
	}
	v.session.notice.Store(&notice{Text: why, Failed: true})
	return v.done("", webhookPath(id))
}

// redeliver posts an event again.
func (c *Console) redeliver(v *visit) error {
	id, err := v.number("id")
	if err != nil {
		return err
	}
	delivery, err := v.number("delivery")
	if err != nil {
		return err
	}
	_, err = v.api.Redeliver(v.r.Context(), id, delivery)
	return v.after(err, "It is posted again.", webhookPath(id))
}
