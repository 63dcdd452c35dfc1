package evolution

import (
	"crypto/sha1" //nolint:gosec // for ids, not for signatures
	"encoding/hex"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Key identifies a message.
type Key struct {
	RemoteJID      bridge.JID `json:"remoteJid"`
	RemoteJIDAlt   bridge.JID `json:"remoteJidAlt,omitempty"`
	FromMe         bool       `json:"fromMe"`
	ID             string     `json:"id"`
	Participant    string     `json:"participant"` // the sender in a group
	ParticipantAlt bridge.JID `json:"participantAlt,omitempty"`
	AddressingMode string     `json:"addressingMode"`
}

// Record is a message in Evolution's form.
type Record struct {
	ID               string         `json:"id,omitempty"`
	Key              Key            `json:"key"`
	PushName         string         `json:"pushName"`
	Status           string         `json:"status"`
	Message          map[string]any `json:"message"`
	ContextInfo      map[string]any `json:"contextInfo"`
	MessageType      string         `json:"messageType"`
	MessageTimestamp int64          `json:"messageTimestamp"`
	InstanceID       string         `json:"instanceId"`
	Source           string         `json:"source"`
	MessageUpdate    []StatusChange `json:"MessageUpdate,omitempty"`
}

// StatusChange is one status of a message.
type StatusChange struct {
	Status string `json:"status"`
}

// Change is a message's new status in Evolution's form.
type Change struct {
	MessageID   string     `json:"messageId"`
	KeyID       string     `json:"keyId"`
	RemoteJID   bridge.JID `json:"remoteJid"`
	FromMe      bool       `json:"fromMe"`
	Participant *string    `json:"participant"`
	Status      string     `json:"status"`
	PollUpdates any        `json:"pollUpdates"`
	InstanceID  string     `json:"instanceId"`
}

// RecordOf returns the record of a message of an account.
func RecordOf(account bridge.JID, m bridge.Message) Record {
	r := recordWithoutID(account, m)
	r.ID = recordID(string(m.Chat), m.ID)
	r.MessageUpdate = []StatusChange{{r.Status}}
	return r
}

// sentRecord returns the record that answers a send.
func sentRecord(m bridge.Message) Record {
	m.PushName = ""
	return recordWithoutID(m.SenderJID, m)
}

func recordWithoutID(account bridge.JID, m bridge.Message) Record {
	kind, content := contentOf(m)
	return Record{
		Key: keyOf(m), PushName: m.PushName, Status: statusOf(m), Message: content, ContextInfo: contextOf(m), MessageType: kind,
		MessageTimestamp: m.Timestamp.Unix(), InstanceID: instanceID(account), Source: "unknown",
	}
}

// ReactionOf returns the record of a reaction to a message. In Evolution, a reaction is a message itself;
// an empty emoji removes it.
func ReactionOf(account bridge.JID, on bridge.Message, reaction bridge.MessageReaction) Record {
	return recordWithoutID(account, bridge.Message{
		Chat: on.Chat, FromMe: reaction.SenderJID == account, SenderJID: reaction.SenderJID, Timestamp: reaction.Timestamp,
		ID:          "3EB0" + strings.ToUpper(hash(string(on.Chat), on.ID, string(reaction.SenderJID), reaction.Emoji, reaction.Timestamp.String()))[:18],
		MessageType: typeReaction,
	}).with(typeReaction, map[string]any{"key": keyOf(on), "text": reaction.Emoji, "senderTimestampMs": strconv.FormatInt(reaction.Timestamp.UnixMilli(), 10)})
}

func (r Record) with(kind string, content map[string]any) Record {
	r.MessageType, r.Message = kind, map[string]any{kind: content}
	return r
}

// ChangeOf returns the current status of a message.
func ChangeOf(account bridge.JID, m bridge.Message) Change {
	key := keyOf(m)
	change := Change{
		MessageID: recordID(string(m.Chat), m.ID), KeyID: m.ID, RemoteJID: m.Chat, FromMe: m.FromMe, Status: statusOf(m), InstanceID: instanceID(account),
	}
	if key.Participant != "" {
		change.Participant = &key.Participant
	}
	return change
}

// EditOf returns the change of a message's text in Evolution's form.
func EditOf(m bridge.Message) map[string]any {
	_, content := contentOf(m)
	at := m.Timestamp
	if m.EditedAt != nil {
		at = *m.EditedAt
	}
	return map[string]any{"key": keyOf(m), "type": "MESSAGE_EDIT", "editedMessage": content, "timestampMs": strconv.FormatInt(at.UnixMilli(), 10)}
}

func keyOf(m bridge.Message) Key {
	key := Key{RemoteJID: m.Chat, FromMe: m.FromMe, ID: m.ID, AddressingMode: "pn"}
	switch {
	case m.Chat.IsGroup():
		key.Participant = string(m.SenderJID)
		if m.SenderLID != m.SenderJID {
			key.ParticipantAlt = m.SenderLID
		}
	case m.FromMe:
	case m.Chat.IsLID() && m.SenderJID != m.Chat:
		key.RemoteJIDAlt = m.SenderJID
	case !m.Chat.IsLID():
		key.RemoteJIDAlt = m.SenderLID
	}
	if m.Chat.IsLID() || m.Chat.IsGroup() && m.SenderJID.IsLID() {
		key.AddressingMode = "lid"
	}
	return key
}

// messageKey is a key that a client sends.
type messageKey struct {
	RemoteJID   compat.Text `json:"remoteJid"`
	ID          compat.Text `json:"id"`
	FromMe      compat.Flag `json:"fromMe"`
	Participant compat.Text `json:"participant"`
}

// target returns the chat and the id of a message.
func (k messageKey) target() (chat bridge.JID, id string, err error) {
	switch {
	case k.ID == "":
		return "", "", bridge.Invalid(`instance requires property "id" of the message's key`)
	case k.RemoteJID == "":
		return "", "", bridge.Invalid(`instance requires property "remoteJid" of the message's key`)
	}
	chat, err = compat.Recipient(string(k.RemoteJID))
	return chat, string(k.ID), err
}

// deliveries has Evolution's statuses of own messages. Other people's messages are always delivered.
var deliveries = map[bridge.Delivery]string{
	bridge.DeliveryPending: "PENDING", bridge.DeliverySent: "SERVER_ACK", bridge.DeliveryDelivered: "DELIVERY_ACK", bridge.DeliveryRead: "READ",
	bridge.DeliveryPlayed: "PLAYED", bridge.DeliveryFailed: "ERROR",
}

func statusOf(m bridge.Message) string {
	switch {
	case m.DeletedAt != nil:
		return "DELETED"
	case m.Status != nil:
		return deliveries[*m.Status]
	case m.FromMe:
		return "SERVER_ACK"
	}
	return "DELIVERY_ACK"
}

// contextOf returns the quoted message, mentions and the forwarding of a message; nil if there are none.
func contextOf(m bridge.Message) map[string]any {
	context := map[string]any{}
	if c := m.ContextInfo; c != nil {
		if c.QuotedMsgID != nil {
			context["stanzaId"], context["participant"] = *c.QuotedMsgID, c.QuotedSenderJID
		}
		if len(c.MentionedJID) > 0 {
			context["mentionedJid"] = c.MentionedJID
		}
	}
	if q := m.Quoted; q != nil && q.ChatJID != "" && q.ChatJID != m.Chat {
		context["remoteJid"] = q.ChatJID
	}
	if q := m.Quoted; q != nil && q.MessageType != bridge.TypeUnknown {
		_, context["quotedMessage"] = contentOf(bridge.Message{Chat: m.Chat, MessageType: q.MessageType, Content: q.Content, Media: &bridge.Media{FileName: q.FileName, Caption: q.Content}})
	}
	if m.IsForwarded {
		context["isForwarded"] = true
	}
	if len(context) == 0 {
		return nil
	}
	return context
}

const (
	typeReaction = "reactionMessage"
	typeProtocol = "protocolMessage"
)

// contentOf returns the content of a message with the names of WhatsApp Web's libraries.
func contentOf(m bridge.Message) (kind string, content map[string]any) {
	kind = m.MessageType
	one := func(fields map[string]any) (string, map[string]any) { return kind, map[string]any{kind: fields} }
	switch {
	case m.DeletedAt != nil:
		kind = typeProtocol
		return one(revocation(m))
	case kind == bridge.TypeText, kind == bridge.TypeExtendedText:
		return bridge.TypeText, map[string]any{bridge.TypeText: m.Content}
	case kind == bridge.TypeUndecryptable:
		return kind, map[string]any{}
	case compat.IsFileType(kind):
		return one(fileOf(m))
	case m.Location != nil && (kind == "locationMessage" || kind == "liveLocationMessage"):
		return one(placeOf(*m.Location))
	case kind == "contactMessage" && len(m.Contacts) > 0:
		return one(cardOf(m.Contacts[0]))
	case kind == "contactsArrayMessage":
		return one(map[string]any{"displayName": m.Content, "contacts": cardsOf(m.Contacts)})
	case strings.HasPrefix(kind, "pollCreationMessage") && m.Poll != nil:
		kind = "pollCreationMessageV3"
		return one(pollOf(*m.Poll))
	case m.Interactive != nil && m.Interactive.Selected != nil:
		return one(choiceOf(kind, *m.Interactive.Selected))
	case kind == "groupInviteMessage" && m.GroupInvite != nil:
		invite := m.GroupInvite
		return one(map[string]any{"groupJid": invite.JID, "groupName": invite.Name, "inviteCode": invite.Code, "caption": m.Content})
	}
	return one(map[string]any{"text": m.Content})
}

func revocation(m bridge.Message) map[string]any {
	return map[string]any{"key": keyOf(m), "type": "REVOKE"}
}

// fileOf returns the fields of a message with a file.
func fileOf(m bridge.Message) map[string]any {
	media := m.Media
	if media == nil {
		return map[string]any{"caption": m.Content}
	}
	fields := map[string]any{"mimetype": media.MimeType, "url": media.DownloadURL, "fileLength": strconv.FormatInt(media.Size, 10)}
	for name, isSet := range map[string]bool{"viewOnce": media.ViewOnce, "gifPlayback": media.GIF} {
		if isSet {
			fields[name] = true
		}
	}
	switch m.MessageType {
	case "audioMessage":
		fields["ptt"], fields["seconds"] = media.PTT, media.DurationSec
		return fields
	case "documentMessage":
		fields["fileName"], fields["title"], fields["caption"], fields["pageCount"] = media.FileName, media.FileName, media.Caption, media.Pages
		return fields
	case "stickerMessage":
		fields["isAnimated"] = media.IsAnimated
	case "videoMessage", "ptvMessage":
		fields["seconds"] = media.DurationSec
		fallthrough
	default:
		fields["caption"], fields["jpegThumbnail"] = media.Caption, ""
	}
	fields["height"], fields["width"] = media.Height, media.Width
	return fields
}

func placeOf(p bridge.Place) map[string]any {
	return map[string]any{"degreesLatitude": p.Latitude, "degreesLongitude": p.Longitude, "name": p.Name, "address": p.Address, "url": p.URL}
}

func cardOf(c bridge.SharedContact) map[string]any {
	return map[string]any{"displayName": c.DisplayName, "vcard": c.VCard}
}

func cardsOf(contacts []bridge.SharedContact) []map[string]any {
	cards := make([]map[string]any, len(contacts))
	for i, c := range contacts {
		cards[i] = cardOf(c)
	}
	return cards
}

func pollOf(p bridge.PollTally) map[string]any {
	options := make([]map[string]any, len(p.Options))
	for i, o := range p.Options {
		options[i] = map[string]any{"optionName": o.Name}
	}
	return map[string]any{"name": p.Name, "options": options, "selectableOptionsCount": p.SelectableCount}
}

// choiceOf returns the fields of an answer to buttons or a list.
func choiceOf(kind string, c bridge.Choice) map[string]any {
	switch kind {
	case "listResponseMessage":
		return map[string]any{"title": c.Text, "singleSelectReply": map[string]any{"selectedRowId": c.ID}}
	case "templateButtonReplyMessage":
		return map[string]any{"selectedId": c.ID, "selectedDisplayText": c.Text}
	}
	return map[string]any{"selectedButtonId": c.ID, "selectedDisplayText": c.Text}
}

// recordID returns the id for some words, in the form of a cuid. The same words have the same id.
func recordID(words ...string) string { return "c" + hash(words...)[:24] }

func hash(words ...string) string {
	sum := sha1.Sum([]byte(strings.Join(words, "\x00"))) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// fileNameOf returns the name of a message's file. If it has none, the name is made of its id and type.
func fileNameOf(m bridge.Message) string {
	if m.Media.FileName != "" {
		return m.Media.FileName
	}
	return bridge.PathID(m.ID) + "." + compat.Extension(m.Media.MimeType)
}
