package evolution

import "bridged/internal/compat"

// Evolution's names for fields of the API.
var (
	ofSends   = compat.Fields{"jid": "number", "quotedMsgId": "quoted.key.id", "quotedChatJid": "quoted.key.remoteJid", "mentions": "mentioned", "mentionAll": "mentionsEveryOne"}
	ofMembers = compat.Fields{"jid": "groupJid", "name": "subject", "topic": "description", "link": "inviteCode", "disappearingSeconds": "expiration"}
)

// ofFile returns the names for a route whose file is in a field of the body.
func ofFile(field string) compat.Fields {
	return ofSends.And(compat.Fields{"url": field, "file": field, "type": "mediatype"})
}

// fieldsOf has Evolution's names of fields by route, for refusals.
var fieldsOf = map[string]compat.Fields{
	"POST /message/sendText/{instance}":          ofSends,
	"POST /message/sendMedia/{instance}":         ofFile("media"),
	"POST /message/sendWhatsAppAudio/{instance}": ofFile("audio"),
	"POST /message/sendSticker/{instance}":       ofFile("sticker"),
	"POST /message/sendPtv/{instance}":           ofFile("video"),
	"POST /message/sendLocation/{instance}":      ofSends,
	"POST /message/sendPoll/{instance}":          ofSends,
	"POST /message/sendContact/{instance}": ofSends.And(compat.Fields{
		"contacts": "contact", "contacts[].displayName": "contact[].fullName", "contacts[].phone": "contact[].wuid",
	}),
	"POST /message/sendReaction/{instance}":            {"emoji": "reaction", "chatJid": "key.remoteJid", "msgId": "key.id"},
	"POST /chat/whatsappNumbers/{instance}":            {"phones": "numbers"},
	"POST /chat/markMessageAsRead/{instance}":          {"chatJid": "readMessages[0].remoteJid", "msgId": "readMessages[0].id"},
	"POST /chat/updateMessage/{instance}":              {"chatJid": "key.remoteJid", "msgId": "key.id"},
	"DELETE /chat/deleteMessageForEveryone/{instance}": {"chatJid": "remoteJid", "msgId": "id"},
	"POST /chat/findMessages/{instance}":               {"limit": "offset", "chatJid": "where.key.remoteJid"},
	"POST /chat/findChats/{instance}":                  {"limit": "offset"},
	"POST /chat/updateProfileStatus/{instance}":        {"about": "status"},
	"POST /chat/updateProfilePicture/{instance}":       {"file": "picture"},
	"POST /chat/updatePrivacySettings/{instance}": {
		"readReceipts": "readreceipts", "picture": "profile", "about": "status", "lastSeen": "last", "groupAdd": "groupadd",
	},
	"POST /label/handleLabel/{instance}":            {"jid": "number"},
	"GET /instance/connect/{instance}":              {"phone": "number"},
	"POST /webhook/set/{instance}":                  {"url": "webhook.url", "events": "webhook.events", "headers": "webhook.headers"},
	"POST /group/create/{instance}":                 ofMembers,
	"POST /group/updateParticipant/{instance}":      ofMembers,
	"POST /group/updateGroupSubject/{instance}":     ofMembers,
	"POST /group/updateGroupDescription/{instance}": ofMembers,
	"POST /group/updateGroupPicture/{instance}":     {"file": "image"},
	"POST /group/toggleEphemeral/{instance}":        ofMembers,
	"GET /group/acceptInviteCode/{instance}":        ofMembers,
}
