package cloud

import (
	"cmp"
	"slices"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/webhook/format"
)

// field is that of messages and statuses; echoes is that of what the account sent.
const (
	field  = "messages"
	echoes = "smb_message_echoes"
)

// changesOf returns what is posted of an event. Meta has no word for edits and deletions,
// nor for chats, calls and the state of the account.
func changesOf(d format.Delivery) []change {
	e := d.Event
	if e.Type == format.Test {
		return []change{{field, object{}}} // of which nothing happened
	}
	m := e.Message
	if m == nil || e.ChatJID.IsGroup() && !showsGroup(d) {
		return nil
	}
	switch e.Type {
	case bridge.EventMessageCreated:
		return messageChange(d, m)
	case bridge.EventMessageStatus:
		return statusChange(d, m)
	case bridge.EventMessageUpdated:
		var changes []change
		if slices.Contains(e.Changes.Fields, bridge.ChangedType) { // what could not be decrypted is a message once it can
			changes = messageChange(d, m)
		}
		return append(changes, reactionChanges(d, m)...)
	}
	return nil
}

// showsGroup reports whether a webhook posts messages of the event's group.
func showsGroup(d format.Delivery) bool {
	if d.Webhook.Options.GroupChats {
		return standIn(d.Event.ChatJID) != ""
	}
	return d.Webhook.Options.Groups
}

// asContact reports whether the event's chat is a group that is shown as a contact.
func asContact(d format.Delivery) bool {
	return d.Webhook.Options.GroupChats && d.Event.ChatJID.IsGroup()
}

// signed puts who wrote before the text of a message in a group that is shown as a contact.
// Sounds, stickers, places and cards have no text.
func signed(kind string, content any, by string) {
	member, _ := map[string]string{"text": "body", "image": "caption", "video": "caption", "document": "caption"}[kind]
	shown, isObject := content.(object)
	if member == "" || !isObject {
		return
	}
	if text, _ := shown[member].(string); text != "" {
		by += ": " + text
	}
	shown[member] = by
}

// messageChange reports a message.
func messageChange(d format.Delivery, m *bridge.Message) []change {
	kind, content := contentOf(d.Event.ChatJID, m)
	if asContact(d) && !m.FromMe {
		signed(kind, content, cmp.Or(m.PushName, writer(m.SenderJID)))
	}
	if kind == "" || m.DeletedAt != nil {
		return nil
	}
	shown := object{"id": refOf(d.Event.ChatJID, m).messageID(), "timestamp": seconds(m.Timestamp), "type": kind}
	if kind == "unsupported" {
		shown["errors"] = content
	} else {
		shown[kind] = content
	}
	if context := contextOf(d, m); len(context) > 0 {
		shown["context"] = context
	}
	if referral := referralOf(m.Referral); referral != nil {
		shown["referral"] = referral
	}
	return sentBy(d, m.FromMe, m.SenderJID, m.PushName, shown)
}

// sentBy reports what a person sent, beside that person, or as an echo what the account did.
func sentBy(d format.Delivery, fromMe bool, sender bridge.JID, name string, shown object) []change {
	chat, to := d.Event.ChatJID, d.Event.ChatJID.User()
	switch {
	case asContact(d):
		to = standIn(chat)
	case chat.IsGroup():
		shown["group_id"] = chat.User()
	}
	if fromMe {
		if !d.Webhook.Options.OwnMessages || d.Own.User == nil {
			return nil
		}
		shown["from"], shown["to"] = d.Own.User.JID.User(), to
		return []change{{echoes, object{"message_echoes": []any{shown}}}}
	}
	from := person(chat, sender)
	if asContact(d) {
		from, name = to, d.GroupName
	}
	shown["from"] = from
	contact := object{"profile": object{"name": cmp.Or(name, from)}, "wa_id": from}
	return []change{{field, object{"contacts": []any{contact}, "messages": []any{shown}}}}
}

// person returns the digits of a person, which are no phone number where only the hidden
// identity is known.
func person(chat, sender bridge.JID) string {
	if sender == "" || !chat.IsGroup() && sender.IsLID() {
		sender = chat
	}
	return sender.User()
}

// writer returns a person without a name: by phone number, which a hidden identity is not.
func writer(sender bridge.JID) string {
	if sender.IsLID() {
		return "~" + sender.User()
	}
	return "+" + sender.User()
}

// statusWords has Meta's words for the status of an own message. A pending one has none.
var statusWords = map[bridge.Delivery]string{
	bridge.DeliverySent: "sent", bridge.DeliveryDelivered: "delivered", bridge.DeliveryRead: "read", bridge.DeliveryPlayed: "read", bridge.DeliveryFailed: "failed",
}

func statusChange(d format.Delivery, m *bridge.Message) []change {
	e := d.Event
	if !m.FromMe || m.Status == nil || statusWords[*m.Status] == "" {
		return nil
	}
	shown := object{
		"id": refOf(e.ChatJID, m).messageID(), "status": statusWords[*m.Status], "timestamp": seconds(e.At), "recipient_id": e.ChatJID.User(),
	}
	switch {
	case asContact(d):
		shown["recipient_id"] = standIn(e.ChatJID)
	case e.ChatJID.IsGroup():
		shown["recipient_type"] = "group"
	}
	if *m.Status == bridge.DeliveryFailed {
		shown["errors"] = faults(codeUndeliverable, "the network did not take the message")
	}
	return []change{{field, object{"statuses": []any{shown}}}}
}

// faults returns the errors of a message.
func faults(code int, details string) []any {
	return []any{object{"code": code, "title": titles[code], "message": titles[code], "error_data": object{"details": details}}}
}

// reactionChanges reports the reactions that changed, each in a post. One that was removed
// has no emoji. Its id is made of the message and the moment: the network's is not kept.
func reactionChanges(d format.Delivery, m *bridge.Message) (changes []change) {
	target := refOf(d.Event.ChatJID, m)
	for _, r := range d.Event.Reactions {
		reaction := object{"message_id": target.messageID()}
		if r.Emoji != "" {
			reaction["emoji"] = r.Emoji
		}
		fromMe := d.Own.User != nil && (r.SenderJID == d.Own.User.JID || r.SenderJID == d.Own.User.LID)
		ref := messageRef{Chat: target.Chat, ID: m.ID + "~" + strconv.FormatInt(r.Timestamp.UnixMilli(), 36)}
		name := ""
		if !fromMe && target.Chat.IsGroup() {
			ref.Sender = r.SenderJID
		}
		if r.SenderJID == m.SenderJID {
			name = m.PushName
		}
		shown := object{"id": ref.messageID(), "timestamp": seconds(r.Timestamp), "type": "reaction", "reaction": reaction}
		changes = append(changes, sentBy(d, fromMe, r.SenderJID, name, shown)...)
	}
	return changes
}

// contextOf returns what a message answers, and whether it was forwarded.
func contextOf(d format.Delivery, m *bridge.Message) object {
	context := object{}
	if m.IsForwarded {
		context["forwarded"] = true
	}
	info := m.ContextInfo
	if info == nil || info.QuotedMsgID == nil {
		return context
	}
	own := d.Own.User
	chat, author := d.Event.ChatJID, info.QuotedSenderJID
	if m.Quoted != nil && m.Quoted.ChatJID != "" { // another one for a group's message that is answered in private
		chat = m.Quoted.ChatJID
	}
	isOwn := own != nil && (author == own.JID || author == own.LID) || m.Quoted.IsFromMe()
	ref := messageRef{Chat: chat, ID: *info.QuotedMsgID}
	switch {
	case isOwn && own != nil:
		context["from"] = own.JID.User()
	default:
		context["from"] = person(chat, author)
		if chat.IsGroup() {
			ref.Sender = author
		}
	}
	context["id"] = ref.messageID()
	return context
}

func referralOf(r *bridge.Referral) object {
	if r == nil || r.SourceURL == "" && r.SourceID == "" && r.CTWAClid == "" {
		return nil
	}
	shown := object{"source_url": r.SourceURL, "source_id": r.SourceID, "source_type": r.SourceType, "headline": r.Headline, "body": r.Body, "ctwa_clid": r.CTWAClid}
	if r.MediaType != "" {
		shown["media_type"] = r.MediaType
	}
	return shown
}

func seconds(at bridge.Time) string { return strconv.FormatInt(at.Unix(), 10) }
