package cloud

import (
	"maps"

	"bridged/internal/compat"
)

// fieldsOf returns Meta's names for fields of the API's sends, for a message of a type.
func fieldsOf(kind string) compat.Fields {
	fields := compat.Fields{
		"jid": "to", "quotedMsgId": "context.message_id", "quotedChatJid": "context.message_id", "text": "text.body", "linkPreview": "text.preview_url",
		"latitude": "location.latitude", "longitude": "location.longitude", "name": "location.name", "address": "location.address",
		"contacts[].displayName": "contacts[].name.formatted_name", "contacts[].phone": "contacts[].phones", "contacts[].vcard": "contacts[]",
		"emoji": "reaction.emoji", "msgId": "reaction.message_id", "chatJid": "reaction.message_id",
	}
	switch kind {
	case "image", "video", "audio", "document", "sticker":
		maps.Copy(fields, compat.Fields{
			"url": kind + ".link", "file": kind + ".id", "caption": kind + ".caption", "fileName": kind + ".filename", "mimetype": kind, "ptt": kind + ".voice",
		})
	case "interactive":
		fields["text"] = "interactive.body.text"
	}
	return fields
}

// subscriptionFields has Meta's names for fields of webhooks.
var subscriptionFields = map[string]compat.Fields{
	"POST /{account}/subscribed_apps": {"url": "override_callback_uri", "secret": "verify_token"},
}
