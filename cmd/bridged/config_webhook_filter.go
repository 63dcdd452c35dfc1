package main

import (
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// webhookFilter reads which events are posted to WEBHOOK_URL.
func (c *config) webhookFilter(faults *configFaults) bridge.EventFilter {
	return bridge.EventFilter{
		Types:        c.webhookTypes(faults),
		Chats:        webhookChats(faults, "WEBHOOK_CHATS", c.WebhookChats),
		ExcludeChats: webhookChats(faults, "WEBHOOK_EXCLUDE_CHATS", c.WebhookExclude),
		ChatType:     c.webhookChatType(faults),
		FromMe:       c.webhookFromMe(faults),
	}
}

// maxWebhookChats bounds a list of chats, as the API does.
const maxWebhookChats = 1000

func webhookChats(faults *configFaults, variable, list string) (chats []bridge.JID) {
	for value := range strings.SplitSeq(list, ",") {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		jid, err := bridge.ParseJID(value)
		if err != nil || !jid.IsPerson() && !jid.IsGroup() || len(chats) == maxWebhookChats {
			faults.add("%s must list at most %d JIDs of people and groups with commas between, such as 15551234567@s.whatsapp.net", variable, maxWebhookChats)
			return nil
		}
		if !slices.Contains(chats, jid) {
			chats = append(chats, jid)
		}
	}
	return chats
}

func (c *config) webhookChatType(faults *configFaults) bridge.ChatType {
	switch kind := bridge.ChatType(strings.ToLower(strings.TrimSpace(c.WebhookChatType))); kind {
	case bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual:
		return kind
	default:
		faults.add("%v", orMeant("WEBHOOK_CHAT_TYPE must be all, group or individual", nearest(string(kind), "all", "group", "individual")))
		return ""
	}
}

// webhookFromMe returns whose messages are posted, nil for everybody's.
func (c *config) webhookFromMe(faults *configFaults) *bool {
	if strings.EqualFold(strings.TrimSpace(c.WebhookFromMe), "any") {
		return nil
	}
	fromMe, err := parseSwitch(c.WebhookFromMe)
	if err != nil {
		faults.add("WEBHOOK_FROM_ME must be true for own messages, false for those of others, or any")
		return nil
	}
	return &fromMe
}

func (c *config) webhookTypes(faults *configFaults) []bridge.EventType {
	var types []bridge.EventType
	for name := range strings.SplitSeq(c.WebhookEvents, ",") {
		kind := bridge.EventType(strings.TrimSpace(name))
		switch {
		case kind == "" || slices.Contains(types, kind):
		case !slices.Contains(bridge.EventTypes(), kind):
			must := "WEBHOOK_EVENTS must be of message.created, message.updated, message.status, chat.updated, group.updated, call.created, call.updated and account.status, with commas between"
			faults.add("%v", orMeant(must, nearestEvent(kind)))
			return nil
		default:
			types = append(types, kind)
		}
	}
	return types
}

// nearestEvent returns the type of event that was probably meant.
func nearestEvent(kind bridge.EventType) string {
	var names []string
	for _, known := range bridge.EventTypes() {
		names = append(names, string(known))
	}
	return nearest(string(kind), names...)
}
