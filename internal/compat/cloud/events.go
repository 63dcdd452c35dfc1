package cloud

import (
	"cmp"
	"slices"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/webhook/format"
)

// field names posts about received messages and statuses, echoes posts about messages that the account sent.
const (
	field  = "messages"
	echoes = "smb_message_echoes"
)

// changesOf returns the changes that are posted for an event. Meta's API has none for edits, deletions, chats,
// calls and the account's state.
func changesOf(d format.Delivery) []change {
	e := d.Event
	if e.Type == format.Test {
		return []change{{field, object{}}} // without any change
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
		if slices.Contains(e.Changes.Fields, bridge.ChangedType) { // a message that can be decrypted now
			changes = messageChange(d, m)
		}
		return append(changes, reactionChanges(d, m)...)
	}
	return nil
}

// showsGroup reports whether the webhook posts messages of the event's group.
func showsGroup(d format.Delivery) bool {
	if d.Webhook.Options.GroupChats {
		return groupContact(d.Event.ChatJID) != ""
	}
	return d.Webhook.Options.Groups
}

// asContact reports whether the event's chat is a group that is shown as a contact.
func asContact(d format.Delivery) bool {
	return d.Webhook.Options.GroupChats && d.Event.ChatJID.IsGroup()
}

// addAuthor puts the author's name before the text of a message. Audio files, stickers, locations and contacts
// have no text.
func addAuthor(kind string, content any, by string) {
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
		addAuthor(kind, content, cmp.Or(m.PushName, numberOrLID(m.SenderJID)))
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

// sentBy reports a message with its sender, or as an echo if the account sent it.
func sentBy(d format.Delivery, fromMe bool, sender bridge.JID, name string, shown object) []change {
	chat, to := d.Event.ChatJID, d.Event.ChatJID.User()
	switch {
	case asContact(d):
		to = groupContact(chat)
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

// person returns the digits of a person's number, or of the LID if no number is known.
func person(chat, sender bridge.JID) string {
	if sender == "" || !chat.IsGroup() && sender.IsLID() {
		sender = chat
	}
	return sender.User()
}

// numberOrLID returns the name of a person whose name is unknown.
func numberOrLID(sender bridge.JID) string {
	if sender.IsLID() {
		return "~" + sender.User()
	}
	return "+" + sender.User()
}

// statusWords has Meta's names of an own message's status. Pending has none.
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
		shown["recipient_id"] = groupContact(e.ChatJID)
	case e.ChatJID.IsGroup():
		shown["recipient_type"] = "group"
	}
	if *m.Status == bridge.DeliveryFailed {
		shown["errors"] = faults(codeUndeliverable, "the network did not take the message")
	}
	return []change{{field, object{"statuses": []any{shown}}}}
}

// faults returns the errors of a message that has one.
func faults(code int, details string) []any {
	return []any{object{"code": code, "title": titles[code], "message": titles[code], "error_data": object{"details": details}}}
}

// reactionChanges reports each changed reaction in a post. A removed one has no emoji. The id consists of the
// message's id and the time, because the network's id is not stored.
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

// contextOf returns the quoted message, and whether the message was forwarded.
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
	if m.Quoted != nil && m.Quoted.ChatJID != "" { // a group's message that is answered in private
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
