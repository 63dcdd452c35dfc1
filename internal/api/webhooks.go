package api

import (
	"cmp"
	"encoding/json"
	"slices"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/bridge"
	"bridged/internal/webhook"
	"bridged/internal/webhook/format"
)

var webhookQuota = callers.Quota{Things: "webhooks", All: webhook.Most, Tree: 10, Created: webhook.Most - webhook.Most/4, Remedy: "remove some"}

// shownWebhook is a webhook in an answer. Chat is set if it has one chat.
type shownWebhook struct {
	bridge.Webhook
	Chat bridge.JID `json:"chat"`
}

func showWebhook(in *input, hook bridge.Webhook) shownWebhook {
	hook.IsOwn = hook.Source == bridge.WebhookFromAPI && hook.Token == in.caller().ID
	hook.Options = hook.Options.WithoutSecrets()
	shown := shownWebhook{Webhook: hook}
	if len(hook.Chats) == 1 {
		shown.Chat = hook.Chats[0]
	}
	return shown
}

// withSecret is a webhook with its secret, which is only shown once.
type withSecret struct {
	shownWebhook
	Secret string `json:"secret"`
}

func listWebhooks(in *input) (any, error) {
	webhooks, err := in.webhooks.Own(in.ctx())
	shown := make([]shownWebhook, len(webhooks))
	for i, hook := range webhooks {
		shown[i] = showWebhook(in, hook)
	}
	return struct {
		Count    int            `json:"count"`
		Webhooks []shownWebhook `json:"webhooks"`
	}{len(shown), shown}, err
}

func createWebhook(in *input) (any, error) {
	req, change := decodeWebhook(in)
	if req.NewSecret {
		in.refuse("rotateSecret is for existing webhooks only; a new one gets a new secret anyway")
	}
	after := afterOf(in, req)
	if in.err != nil {
		return nil, in.err
	}
	hook := bridge.Webhook{Enabled: true, Cursor: after, Token: in.caller().ID}
	change(&hook)
	if req.DryRun {
		_, err := in.webhooks.Add(in.ctx(), in.Webhooks.Check, hook)
		return done{true}, err
	}
	hook, err := in.webhooks.Add(in.ctx(), in.Webhooks.Create, hook)
	answer := withSecret{showWebhook(in, hook), hook.Secret}
	answer.Options = hook.Options
	return created{answer}, err
}

func getWebhook(in *input) (any, error) {
	hook, err := pathWebhook(in)
	return showWebhook(in, hook), err
}

func updateWebhook(in *input) (any, error) {
	present, err := pathWebhook(in)
	id := keep(in, present.ID, err)
	req, change := decodeWebhook(in)
	if req.After != nil {
		in.refuse("after is for new webhooks only; an existing one continues after the last event that it has posted")
	}
	if caller := in.caller().ID; caller != 0 && caller != present.Token && req.Leaks(present) {
		in.refuse("url: another token made this webhook, and its secrets may not be sent to another address: give formatOptions with all values of headers and verifyToken, too")
	}
	if in.err != nil {
		return nil, in.err
	}
	if req.DryRun {
		hook, err := in.Webhooks.CheckUpdate(in.ctx(), id, req.Moves(), change)
		return showWebhook(in, hook), err
	}
	hook, err := in.Webhooks.Update(in.ctx(), id, req.Moves(), change)
	if req.Secret != nil {
		return withSecret{showWebhook(in, hook), hook.Secret}, err
	}
	return showWebhook(in, hook), err
}

func deleteWebhook(in *input) (any, error) {
	id := pathWebhookID(in)
	if in.err != nil {
		return nil, in.err
	}
	return done{true}, in.Webhooks.Delete(in.ctx(), id)
}

// testWebhook posts a test and answers 200. ok reports whether the receiver accepted it.
func testWebhook(in *input) (any, error) {
	id := pathWebhookID(in)
	if in.err != nil {
		return nil, in.err
	}
	return in.Webhooks.Test(in.ctx(), id)
}

func listDeliveries(in *input) (any, error) {
	query := bridge.DeliveryQuery{Webhook: pathWebhookID(in)}
	const any = "any"
	status := in.oneOf("status", any, any,
		string(bridge.WebhookPending), string(bridge.WebhookDelivered), string(bridge.WebhookDead))
	query.Limit, query.Cursor = in.limit(maxPage), in.text("cursor")
	if status != any {
		query.Status = bridge.DeliveryState(status)
	}
	return answerPage(in, "deliveries", query, in.Store.Deliveries)
}

func redeliver(in *input) (any, error) {
	id, delivery := pathWebhookID(in), in.pathNumber("deliveryId", "no delivery has this id")
	if in.err != nil {
		return nil, in.err
	}
	return in.Webhooks.Redeliver(in.ctx(), id, delivery)
}

func pathWebhook(in *input) (bridge.Webhook, error) {
	return pathOwn(in, "webhook", in.webhooks.Own, func(hook bridge.Webhook) int64 { return hook.ID })
}

// pathWebhookID returns the id of the webhook that the path names, if it is among the caller's own.
func pathWebhookID(in *input) int64 {
	hook, err := pathWebhook(in)
	return keep(in, hook.ID, err)
}

// decodeWebhook reads a content.WebhookChange, and returns it with the change that it describes. It
// creates a new secret if the request has rotateSecret.
func decodeWebhook(in *input) (req content.WebhookChange, change func(*bridge.Webhook)) {
	in.body(&req, strict)
	if req.Secret != nil && *req.Secret == "" {
		req.Secret = nil
	}
	switch {
	case req.Secret != nil && req.NewSecret:
		in.refuse("give secret or rotateSecret, not both")
	case req.NewSecret:
		req.Secret = new(format.NewSecret())
	}
	if req.Chat != nil && req.Chats != nil {
		in.refuse("give chats or chat, not both: chat is a list of one")
	}
	if req.Format != nil {
		*req.Format = cmp.Or(*req.Format, bridge.FormatBridged)
	}
	if req.Options != nil && len(req.Options.Events) > maxFormatEvents {
		in.refuse("formatOptions.events must hold at most %d elements", maxFormatEvents)
	}
	var types *[]bridge.EventType
	if req.Types != nil {
		list, err := content.ParseEventTypes("types", *req.Types, bridge.EventTypes())
		types = keep(in, &list, err)
	}
	chats, excluded := in.filterChats("chats", req.Chats), in.filterChats("excludeChats", req.ExcludeChats)
	if req.Chat != nil {
		only := []string{*req.Chat}
		if *req.Chat == "" {
			only = nil // all chats
		}
		chats = in.filterChats("chat", &only)
	}
	if req.ChatType != nil {
		*req.ChatType = cmp.Or(*req.ChatType, bridge.ChatsAll)
		if !slices.Contains([]bridge.ChatType{bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual}, *req.ChatType) {
			in.refuse("chatType must be all, group or individual")
		}
	}
	var fromMe *bool
	if req.FromMe != nil && json.Unmarshal(req.FromMe, &fromMe) != nil {
		in.refuse("fromMe must be true, false, or null for any")
	}
	return req, func(w *bridge.Webhook) {
		bridge.SetIf(&w.URL, req.URL)
		bridge.SetIf(&w.AllowPrivate, req.AllowPrivate)
		bridge.SetIf(&w.Enabled, req.Enabled)
		bridge.SetIf(&w.Secret, req.Secret)
		bridge.SetIf(&w.Types, types)
		bridge.SetIf(&w.Chats, chats)
		bridge.SetIf(&w.ExcludeChats, excluded)
		bridge.SetIf(&w.ChatType, req.ChatType)
		bridge.SetIf(&w.Format, req.Format)
		if req.Options != nil {
			earlier := w.Options
			if w.Format != bridge.FormatCloud {
				earlier.VerifyToken = "" // other formats refuse it
			}
			w.Options = req.Options.WithSecretsOf(earlier)
		}
		if req.FromMe != nil { // null is any
			w.FromMe = fromMe
		}
	}
}

const (
	maxFilterChats  = 1000 // of each list of chats of a webhook
	maxFormatEvents = 100
)

// filterChats returns each chat of a field once. The caller must be allowed to see them; they need not be stored.
func (q *input) filterChats(field string, values *[]string) *[]bridge.JID {
	if values == nil {
		return nil
	}
	if len(*values) > maxFilterChats {
		q.refuse("%s must hold at most %d elements", field, maxFilterChats)
	}
	chats, seen := []bridge.JID{}, map[bridge.JID]bool{}
	for _, value := range *values {
		jid, err := content.ParseChat(field, value)
		if keep(q, jid, err); q.err == nil {
			q.err = q.see(q.ctx(), jid)
		}
		if q.err != nil {
			break
		}
		if name := q.canonical(jid); !seen[name] {
			seen[name] = true
			chats = append(chats, jid)
		}
	}
	return &chats
}

// afterOf returns the event after which a new webhook begins; negative for the end of the log.
func afterOf(in *input, req content.WebhookChange) int64 {
	var after string
	if json.Unmarshal(req.After, &after) != nil {
		after = string(req.After) // a number, or nothing
	}
	if after == "now" || after == "" || after == "null" {
		return -1
	}
	return in.eventCursor("after", after)
}
