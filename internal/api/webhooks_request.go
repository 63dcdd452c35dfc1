package api

import (
	"cmp"
	"encoding/json"

	"bridged/internal/bridge"
	"bridged/internal/webhook"
)

// webhookRequest is the body that makes or changes a webhook. A field that is
// left out has its default, or stays as it is; so has one that is null, but for
// fromMe, where null is any.
type webhookRequest struct {
	URL          *string         `json:"url"`
	Types        *[]string       `json:"types"`
	Chats        *[]string       `json:"chats"`
	ExcludeChats *[]string       `json:"excludeChats"`
	ChatType     *string         `json:"chatType"`
	FromMe       json.RawMessage `json:"fromMe"`
	Chat         *string         `json:"chat"` // the only one of chats
	AllowPrivate *bool           `json:"allowPrivate"`
	Enabled      *bool           `json:"enabled"`
	Secret       *string         `json:"secret"`
	NewSecret    bool            `json:"rotateSecret"`
	After        json.RawMessage `json:"after"`
}

// decodeWebhook reads the body that makes or changes a webhook, and returns it with the
// change that it asks for. A secret that it wants made is made.
func (s *server) decodeWebhook(in *input) (req webhookRequest, change func(*bridge.Webhook)) {
	in.body(&req, strict)
	var changes []func(*bridge.Webhook)
	set := func(change func(*bridge.Webhook)) { changes = append(changes, change) }
	if req.URL != nil {
		set(func(w *bridge.Webhook) { w.URL = *req.URL })
	}
	if req.AllowPrivate != nil {
		set(func(w *bridge.Webhook) { w.AllowPrivate = *req.AllowPrivate })
	}
	if req.Enabled != nil {
		set(func(w *bridge.Webhook) { w.Enabled = *req.Enabled })
	}
	if req.Secret != nil && *req.Secret == "" {
		req.Secret = nil
	}
	if req.Secret != nil && req.NewSecret {
		in.refuse("give secret or rotateSecret, not both")
	}
	if req.NewSecret {
		req.Secret = new(webhook.NewSecret())
	}
	if req.Secret != nil {
		set(func(w *bridge.Webhook) { w.Secret = *req.Secret })
	}
	if req.Types != nil {
		types, err := parseEventTypes("types", *req.Types)
		keep(in, types, err)
		set(func(w *bridge.Webhook) { w.Types = types })
	}
	if req.Chat != nil && req.Chats != nil {
		in.refuse("give chats or chat, not both: chat is a list of one")
	}
	if req.Chats != nil {
		chats := in.filterChats("chats", *req.Chats)
		set(func(w *bridge.Webhook) { w.Chats = chats })
	}
	if req.Chat != nil {
		only := []string{*req.Chat}
		if *req.Chat == "" {
			only = nil // no chat in particular
		}
		chats := in.filterChats("chat", only)
		set(func(w *bridge.Webhook) { w.Chats = chats })
	}
	if req.ExcludeChats != nil {
		chats := in.filterChats("excludeChats", *req.ExcludeChats)
		set(func(w *bridge.Webhook) { w.ExcludeChats = chats })
	}
	if req.ChatType != nil {
		kind := cmp.Or(bridge.ChatType(*req.ChatType), bridge.ChatsAll)
		if kind != bridge.ChatsAll && kind != bridge.ChatsGroup && kind != bridge.ChatsIndividual {
			in.refuse("chatType must be all, group or individual")
		}
		set(func(w *bridge.Webhook) { w.ChatType = kind })
	}
	if req.FromMe != nil { // null is any
		var fromMe *bool
		if json.Unmarshal(req.FromMe, &fromMe) != nil {
			in.refuse("fromMe must be true, false, or null for any")
		}
		set(func(w *bridge.Webhook) { w.FromMe = fromMe })
	}
	return req, func(w *bridge.Webhook) {
		for _, change := range changes {
			change(w)
		}
	}
}

// maxFilterChats bounds each list of chats of a webhook.
const maxFilterChats = 1000

// filterChats reads chats that the caller may see and returns each once. They need not
// be stored yet.
func (q *input) filterChats(field string, values []string) []bridge.JID {
	if len(values) > maxFilterChats {
		q.refuse("%s must hold at most %d elements", field, maxFilterChats)
	}
	chats, seen := []bridge.JID{}, map[bridge.JID]bool{}
	for _, value := range values {
		jid, err := parseChat(field, value)
		if keep(q, jid, err); q.err == nil {
			q.err = q.s.see(q.ctx(), jid)
		}
		if q.err != nil {
			break
		}
		if name := q.s.canonical(jid); !seen[name] {
			seen[name] = true
			chats = append(chats, jid)
		}
	}
	return chats
}

// after returns where in the log a new webhook begins, negative for its end.
func (req webhookRequest) after(in *input) int64 {
	var after string
	if json.Unmarshal(req.After, &after) != nil {
		after = string(req.After) // a number, or nothing
	}
	if after == "now" || after == "" || after == "null" {
		return -1
	}
	return in.eventCursor("after", after)
}
