package waha

import "bridged/internal/compat"

// WAHA's names for fields of the API.
var (
	ofSends = compat.Fields{"jid": "chatId", "quotedMsgId": "reply_to", "quotedChatJid": "reply_to"}
	ofFiles = ofSends.And(compat.Fields{
		"url": "file.url", "file": "file.data", "fileName": "file.filename", "mimetype": "file.mimetype",
	})
	ofMessages = compat.Fields{"chatJid": "chatId", "msgId": "messageId", "emoji": "reaction"}
	ofWebhooks = compat.Fields{
		"url": "config.webhooks[0].url", "events": "config.webhooks[0].events", "secret": "config.webhooks[0].hmac.key",
		"headers": "config.webhooks[0].customHeaders",
	}
	ofGroups = compat.Fields{"topic": "description"}
)

// fieldsOf has WAHA's names of fields by route, for refusals.
var fieldsOf = map[string]compat.Fields{
	"POST /api/sendText":  ofSends,
	"POST /api/reply":     ofSends,
	"GET /api/sendText":   {"jid": "phone"},
	"POST /api/sendImage": ofFiles, "POST /api/sendFile": ofFiles, "POST /api/sendVideo": ofFiles, "POST /api/sendVoice": ofFiles,
	"POST /api/sendLocation": ofSends.And(compat.Fields{"name": "title"}),
	"POST /api/sendPoll":     ofSends.And(compat.Fields{"name": "poll.name", "values": "poll.options", "selectableCount": "poll.multipleAnswers"}),
	"POST /api/sendContactVcard": ofSends.And(compat.Fields{
		"contacts[].displayName": "contacts[].fullName", "contacts[].phone": "contacts[].whatsappId",
	}),
	"POST /api/forwardMessage": {"destJid": "chatId", "sourceMsgId": "messageId", "sourceChatJid": "messageId"},
	"PUT /api/reaction":        ofMessages, "POST /api/sendSeen": ofMessages, "PUT /api/star": ofMessages,
	"POST /api/startTyping": ofSends, "POST /api/stopTyping": ofSends,
	"POST /api/sessions": ofWebhooks, "PUT /api/sessions/{session}": ofWebhooks,
	"POST /api/default/auth/request-code":         {"phone": "phoneNumber"},
	"POST /api/default/groups":                    ofGroups,
	"PUT /api/default/groups/{group}/subject":     {"name": "subject"},
	"PUT /api/default/groups/{group}/description": ofGroups,
	"PUT /api/default/profile/status":             {"about": "status"},
	"PUT /api/default/profile/picture":            {"file": "file.data"},
	"POST /api/default/groups/join":               {"link": "code"},
	"GET /api/default/chats/{chat}/messages":      {"since": "filter.timestamp.gte", "until": "filter.timestamp.lte"},
	"GET /api/messages":                           {"since": "filter.timestamp.gte", "until": "filter.timestamp.lte", "chatJid": "chatId"},
	"GET /api/contacts/check-exists":              {"phones": "phone"},
}
