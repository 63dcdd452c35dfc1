package api

import (
	"context"
	"encoding/json"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/webhook"
)

// webhookRequest is the body that makes or changes a webhook. A field that is
// left out has its default, or stays as it is; so has one that is null, but for
// fromMe, where null is any.
type webhookRequest struct {
	URL          *string         `json:"url"`
	Types        *[]string       `json:"types"`
	Chats        *[]string       `json:"chats" max:"1000"`
	ExcludeChats *[]string       `json:"excludeChats" max:"1000"`
	ChatType     *string         `json:"chatType"`
	FromMe       json.RawMessage `json:"fromMe"`
	Chat         *string         `json:"chat"` // the only one of chats
	AllowPrivate *bool           `json:"allowPrivate"`
	Enabled      *bool           `json:"enabled"`
	Secret       *string         `json:"secret"`
	NewSecret    bool            `json:"rotateSecret"`
	After        json.RawMessage `json:"after"`
}

// decodeWebhook reads the body that makes or changes a webhook.
func (s *server) decodeWebhook(w http.ResponseWriter, r *http.Request) (webhookRequest, webhook.Change, error) {
	var req webhookRequest
	if _, err := s.bodies.decodeStrict(w, r, &req); err != nil {
		return req, webhook.Change{}, err
	}
	change, err := s.webhookChange(r.Context(), req)
	return req, change, err
}

// webhookChange returns the settings that a request changes.
func (s *server) webhookChange(ctx context.Context, req webhookRequest) (webhook.Change, error) {
	change := webhook.Change{
		URL: req.URL, AllowPrivate: req.AllowPrivate, Enabled: req.Enabled, NewSecret: req.NewSecret,
	}
	if req.Secret != nil && *req.Secret != "" {
		change.Secret = req.Secret
	}
	if change.Secret != nil && change.NewSecret {
		return change, bridge.Invalid("give secret or rotateSecret, not both")
	}
	if req.Types != nil {
		types, err := parseEventTypes("types", *req.Types)
		if err != nil {
			return change, err
		}
		change.Types = &types
	}
	if err := s.chatsChange(ctx, req, &change); err != nil {
		return change, err
	}
	if req.ChatType != nil {
		kind, err := parseChatType("chatType", *req.ChatType)
		if err != nil {
			return change, err
		}
		change.ChatType = &kind
	}
	var err error
	change.FromMe, err = parseFromMe(req.FromMe)
	return change, err
}

// chatsChange reads the lists of chats. chat names the only one, and no chat
// where it is empty.
func (s *server) chatsChange(ctx context.Context, req webhookRequest, change *webhook.Change) (err error) {
	if req.Chat != nil && req.Chats != nil {
		return bridge.Invalid("give chats or chat, not both: chat is a list of one")
	}
	if req.Chats != nil {
		if change.Chats, err = s.parseFilterChats(ctx, "chats", *req.Chats); err != nil {
			return err
		}
	}
	if req.Chat != nil {
		only := []string{*req.Chat}
		if *req.Chat == "" {
			only = nil
		}
		if change.Chats, err = s.parseFilterChats(ctx, "chat", only); err != nil {
			return err
		}
	}
	if req.ExcludeChats != nil {
		change.ExcludeChats, err = s.parseFilterChats(ctx, "excludeChats", *req.ExcludeChats)
	}
	return err
}

// parseFilterChats reads chats that the caller may see and returns each once. They
// need not be stored yet.
func (s *server) parseFilterChats(ctx context.Context, field string, values []string) (*[]bridge.JID, error) {
	chats, seen := []bridge.JID{}, map[bridge.JID]bool{}
	for _, value := range values {
		jid, err := parseChat(field, value)
		if err != nil {
			return nil, err
		}
		if err := s.see(ctx, jid); err != nil {
			return nil, err
		}
		if name := s.canonical(jid); !seen[name] {
			seen[name] = true
			chats = append(chats, jid)
		}
	}
	return &chats, nil
}

// parseChatType reads a kind of chat; empty is all.
func parseChatType(field, value string) (bridge.ChatType, error) {
	switch kind := bridge.ChatType(value); kind {
	case bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual:
		return kind, nil
	case "":
		return bridge.ChatsAll, nil
	}
	return "", bridge.Invalid("%s must be all, group or individual", field)
}

// parseFromMe returns nil where nothing is given, and a pointer to nil for null.
func parseFromMe(value json.RawMessage) (**bool, error) {
	if value == nil {
		return nil, nil
	}
	var fromMe *bool
	if err := json.Unmarshal(value, &fromMe); err != nil {
		return nil, bridge.Invalid("fromMe must be true, false, or null for any")
	}
	return &fromMe, nil
}

// after returns where in the log a new webhook begins, negative for its end.
func (req webhookRequest) after() (int64, error) {
	if req.After == nil {
		return -1, nil
	}
	q := &query{}
	var after string
	if json.Unmarshal(req.After, &after) != nil {
		after = string(req.After) // a number
	}
	if after == "now" || after == "" || after == "null" {
		return -1, nil
	}
	return q.eventCursor("after", after), q.err
}
