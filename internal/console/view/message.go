package view

import (
	"cmp"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/markup"
)

const summaryLength = 200 // characters

const deletedText = "This message was deleted"

// Summary returns a message in one line.
func Summary(m bridge.Message) string {
	if m.DeletedAt != nil {
		return deletedText
	}
	text := oneLine(m.Content)
	switch kind := KindOf(m); {
	case text == "" || m.ViewOnce:
		return kind
	case m.Media != nil || m.Poll != nil || m.Location != nil || len(m.Contacts) > 0:
		return kind + ": " + text
	}
	return text
}

// QuotedLine returns a quoted message in one line.
func QuotedLine(q bridge.Quoted) string {
	text, kind := oneLine(q.Content), kindsOfTypes[q.MessageType]
	switch {
	case q.DeletedAt != nil:
		return deletedText
	case text == "":
		return cmp.Or(q.FileName, kindOfType(q.MessageType))
	case kind != "":
		return kind + ": " + text
	}
	return text
}

// lastLine returns the newest message of a chat in one line.
func lastLine(m bridge.LastMessage) string {
	file := cmp.Or(m.Media, new(bridge.LastMedia))
	switch {
	case m.DeletedAt != nil:
		return deletedText
	case m.ViewOnce:
		return viewOnceText(m.MessageType)
	case m.Content != "":
		return oneLine(m.Content)
	case file.PTT:
		return "Voice note"
	case file.GIF:
		return "GIF"
	}
	return cmp.Or(file.FileName, kindOfType(m.MessageType))
}

// lastIcon returns the icon of a chat's newest message; empty for texts.
func lastIcon(m bridge.LastMessage) string {
	if m.DeletedAt != nil {
		return "deleted"
	}
	return iconsOfKinds[kindsOfTypes[m.MessageType]]
}

// iconsOfKinds has the icons of messages other than texts.
var iconsOfKinds = map[string]string{
	"Photo": "picture", "Video": "play", "Audio": "mic", "Voice note": "mic", "Document": "file", "Album": "picture", "Location": "place",
	"Contact": "contact", "Contacts": "contact", "Poll": "poll", "Event": "event", "Group invitation": "group",
}

// ScheduledKind describes a scheduled message without text.
func ScheduledKind(m bridge.ScheduledMessage) string {
	if m.Media != nil && m.Media.PTT {
		return "Voice note"
	}
	return cmp.Or(kindsOfScheduled[m.Type], kindsOfFiles[bridge.MediaType(m.Type)], "Document")
}

var kindsOfScheduled = map[bridge.ScheduledType]string{
	bridge.ScheduledTypeText: "Message", bridge.ScheduledTypeLocation: "Location", bridge.ScheduledTypePoll: "Poll",
	bridge.ScheduledTypeContacts: "Contact", bridge.ScheduledTypeForward: "Forwarded message", bridge.ScheduledTypeAlbum: "Album",
}

// scheduledIcon returns the icon of a scheduled message; empty for texts.
func scheduledIcon(m bridge.ScheduledMessage) string {
	if m.Type == bridge.ScheduledTypeForward {
		return "forward"
	}
	return iconsOfKinds[ScheduledKind(m)]
}

// oneLine returns the beginning of a text in one line, without formatting.
func oneLine(text string) string {
	return bridge.Beginning(strings.Join(strings.Fields(markup.Plain(text)), " "), summaryLength)
}

// KindOf describes a message without text.
func KindOf(m bridge.Message) string {
	switch {
	case m.ViewOnce:
		return viewOnceText(m.MessageType)
	case m.MessageType == bridge.TypeUndecryptable:
		return "Waiting for this message. This may take a while."
	case m.Poll != nil:
		return "Poll"
	case m.Location != nil:
		return "Location"
	case len(m.Contacts) == 1:
		return "Contact"
	case len(m.Contacts) > 1:
		return "Contacts"
	case m.Event != nil:
		return "Event"
	case m.Album != nil:
		return albumWords(*m.Album)
	case m.GroupInvite != nil:
		return "Group invitation"
	case m.Order != nil:
		return "Order"
	case m.Product != nil:
		return "Product"
	case m.Media != nil && m.Media.PTT:
		return "Voice note"
	case m.Media != nil:
		return cmp.Or(kindsOfFiles[m.Media.Type], m.Media.FileName, "Document")
	}
	return kindOfType(m.MessageType)
}

// viewOnceText describes a view-once message by its type.
func viewOnceText(messageType string) string {
	return "View-once " + cmp.Or(onceKinds[messageType], "message") + ". Open it on the phone."
}

// onceKinds describes view-once messages whose kind is known.
var onceKinds = map[string]string{"imageMessage": "photo", "videoMessage": "video", "ptvMessage": "video", "audioMessage": "voice note"}

// kindsOfFiles describes types of files; others are documents.
var kindsOfFiles = map[bridge.MediaType]string{
	bridge.MediaImage: "Photo", bridge.MediaVideo: "Video", bridge.MediaAudio: "Audio", bridge.MediaSticker: "Sticker",
}

// kindOfType describes a message without text by its type.
func kindOfType(messageType string) string {
	switch messageType {
	case "conversation", "extendedTextMessage":
		return "Empty message"
	case bridge.TypeUnknown:
		return "This kind of message isn’t supported yet"
	}
	return cmp.Or(kindsOfTypes[messageType], "Message of another kind")
}

// kindsOfTypes describes types of messages.
var kindsOfTypes = map[string]string{
	"imageMessage": "Photo", "videoMessage": "Video", "ptvMessage": "Video", "audioMessage": "Audio",
	"documentMessage": "Document", "stickerMessage": "Sticker", "albumMessage": "Album", "locationMessage": "Location", "liveLocationMessage": "Location",
	"eventMessage": "Event", "eventInviteMessage": "Event", "groupInviteMessage": "Group invitation", "orderMessage": "Order", "productMessage": "Product",
	"contactMessage": "Contact", "contactsArrayMessage": "Contacts", bridge.TypeUndecryptable: "Waiting for this message",
	"pollCreationMessage": "Poll", "pollCreationMessageV2": "Poll", "pollCreationMessageV3": "Poll", "pollCreationMessageV5": "Poll", "pollCreationMessageV6": "Poll",
}

// albumWords describes an album by the numbers that it declares.
func albumWords(a bridge.Album) string {
	var parts []string
	count := func(n int, noun string) {
		if n > 0 {
			parts = append(parts, bridge.Counted(n, noun))
		}
	}
	count(a.Images, "photo")
	count(a.Videos, "video")
	if len(parts) == 0 {
		return "Album"
	}
	return "Album: " + strings.Join(parts, ", ")
}
