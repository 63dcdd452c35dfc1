package convert

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// readText reads plain and extended text.
func readText(msg *waE2E.Message) shown {
	if msg.Conversation != nil {
		return shown{text: msg.GetConversation()}
	}
	text := msg.GetExtendedTextMessage()
	s := shown{text: text.GetText()}
	if text.GetMatchedText() != "" || text.GetTitle() != "" {
		s.parts.LinkPreview = &bridge.LinkPreview{URL: text.GetMatchedText(), Title: text.GetTitle(), Description: text.GetDescription()}
	}
	return s
}

// plainText returns the text of a message within a message, if it is one.
func plainText(msg *waE2E.Message) string {
	if msg.GetConversation() != "" {
		return msg.GetConversation()
	}
	return msg.GetExtendedTextMessage().GetText()
}

// lines puts what is not empty one below the other.
func lines(texts ...string) string {
	kept := texts[:0:0]
	for _, text := range texts {
		if text = strings.TrimRight(text, "\n"); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n")
}

// labelled returns "label: text", or either where the other is empty or the
// same.
func labelled(label, text string) string {
	switch {
	case label == "" || label == text:
		return text
	case text == "":
		return label
	}
	return label + ": " + text
}

// first returns what a list begins with: no list is read without end.
func first[T any](list []T) []T { return list[:min(len(list), maxListed)] }

// readTitled reads kinds that show one text.
func readTitled(msg *waE2E.Message) shown {
	switch {
	case msg.ScheduledCallCreationMessage != nil:
		return shown{text: msg.GetScheduledCallCreationMessage().GetTitle()}
	case msg.MusicMessage != nil:
		music := msg.GetMusicMessage()
		return shown{text: lines(labelled(music.GetEmbeddedMusic().GetAuthor(), music.GetEmbeddedMusic().GetTitle()), music.GetSongUri())}
	case msg.StickerPackMessage != nil:
		pack := msg.GetStickerPackMessage()
		return shown{text: lines(pack.GetName(), pack.GetPublisher(), pack.GetCaption())}
	case msg.BcallMessage != nil:
		return shown{text: msg.GetBcallMessage().GetCaption()}
	case msg.StatusQuestionAnswerMessage != nil:
		return shown{text: msg.GetStatusQuestionAnswerMessage().GetText()}
	case msg.QuestionResponseMessage != nil:
		return shown{text: msg.GetQuestionResponseMessage().GetText()}
	}
	return shown{text: msg.GetStatusQuotedMessage().GetText()}
}

// readPlaceholder reads what linked devices get of a message that is for the
// phone alone: a business's one-time passcode.
func readPlaceholder(msg *waE2E.Message) shown {
	if msg.GetPlaceholderMessage().GetType() == waE2E.PlaceholderMessage_MASK_LINKED_DEVICES {
		return shown{text: "A one-time passcode was sent. Only the phone shows it."}
	}
	return shown{}
}
