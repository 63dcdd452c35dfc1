package console

import (
	"cmp"
	"strings"

	"bridged/internal/bridge"
)

// summaryLength is how many characters of a text stand in a line.
const summaryLength = 200

// summary returns a message in one line.
func summary(m bridge.Message) string {
	if m.DeletedAt != nil {
		return "This message was deleted"
	}
	text := strings.Join(strings.Fields(m.Content), " ")
	if runes := []rune(text); len(runes) > summaryLength {
		text = string(runes[:summaryLength]) + "…"
	}
	switch kind := kindOf(m); {
	case text == "":
		return kind
	case m.Media != nil || m.Poll != nil || m.Location != nil || len(m.Contacts) > 0:
		return kind + ": " + text
	}
	return text
}

// kindOf returns what a message is, in words.
func kindOf(m bridge.Message) string {
	switch {
	case m.MessageType == bridge.TypeUndecryptable:
		return "Waiting for this message. It is shown once the sender's phone has sent it again."
	case m.Poll != nil:
		return "Poll"
	case m.Location != nil:
		return "Place"
	case len(m.Contacts) == 1:
		return "Contact"
	case len(m.Contacts) > 1:
		return "Contacts"
	case m.Event != nil:
		return "Event"
	case m.Album != nil:
		return albumWords(m.Album)
	case m.GroupInvite != nil:
		return "Invitation to a group"
	case m.Order != nil:
		return "Order"
	case m.Product != nil:
		return "Product"
	case m.Media != nil:
		return kindOfFile(*m.Media)
	}
	return kindOfType(m.MessageType)
}

// kindsOfFiles are words for files; others are documents.
var kindsOfFiles = map[bridge.MediaType]string{
	bridge.MediaImage: "Picture", bridge.MediaVideo: "Video", bridge.MediaAudio: "Sound", bridge.MediaSticker: "Sticker",
}

func kindOfFile(file bridge.Media) string {
	if file.PTT {
		return "Voice note"
	}
	return cmp.Or(kindsOfFiles[file.Type], file.FileName, "Document")
}

// kindOfType returns words for a type that has nothing to show of its own.
func kindOfType(messageType string) string {
	switch messageType {
	case "conversation", "extendedTextMessage":
		return "Empty message"
	case "unknown":
		return "A message of a kind that this version does not know"
	}
	return "A message of the type " + strings.TrimSuffix(messageType, "Message")
}

// lastLine returns the newest message of a chat in one line.
func lastLine(m bridge.LastMessage) string {
	if text := strings.Join(strings.Fields(m.Content), " "); text != "" {
		return text
	}
	return cmp.Or(kindsOfLast[m.MessageType], kindOfType(m.MessageType))
}

// kindsOfLast are words for the newest message of a chat, of which only the type is
// known.
var kindsOfLast = map[string]string{
	"imageMessage": "Picture", "videoMessage": "Video", "ptvMessage": "Video", "audioMessage": "Voice note or sound",
	"documentMessage": "Document", "stickerMessage": "Sticker", "albumMessage": "Album", bridge.TypeUndecryptable: "Waiting for this message",
}
