package convert

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/proto/waAICommonDeprecated"
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
	return cmp.Or(msg.GetConversation(), msg.GetExtendedTextMessage().GetText())
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

// optional returns nil for an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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

// readRichResponse reads the answer of an AI, which consists of texts, tables,
// code, formulas, maps and pictures that lie on the web.
func readRichResponse(msg *waE2E.Message) shown {
	m := msg.GetRichResponseMessage()
	var text []string
	for _, part := range first(m.GetSubmessages()) {
		text = append(text, richText(part))
	}
	if joined := lines(text...); joined != "" {
		return shown{text: joined}
	}
	return shown{text: lines(unifiedTexts(m.GetUnifiedResponse().GetData())...)}
}

func richText(part *waAICommonDeprecated.AIRichResponseSubMessage) string {
	text := []string{part.GetMessageText()}
	for _, image := range first(part.GetGridImageMetadata().GetImageURLs()) {
		text = append(text, image.GetImageHighResURL())
	}
	if image := part.GetImageMetadata(); image != nil {
		text = append(text, labelled(image.GetImageText(), image.GetImageURL().GetImageHighResURL()))
	}
	var code strings.Builder
	for _, block := range first(part.GetCodeMetadata().GetCodeBlocks()) {
		code.WriteString(block.GetCodeContent())
	}
	text = append(text, code.String(), part.GetTableMetadata().GetTitle())
	for _, row := range first(part.GetTableMetadata().GetRows()) {
		text = append(text, strings.Join(row.GetItems(), " | "))
	}
	text = append(text, part.GetDynamicMetadata().GetURL(), part.GetLatexMetadata().GetText())
	for _, formula := range first(part.GetLatexMetadata().GetExpressions()) {
		text = append(text, formula.GetLatexExpression())
	}
	for _, place := range first(part.GetMapMetadata().GetAnnotations()) {
		text = append(text, labelled(place.GetTitle(), place.GetBody()))
	}
	for _, item := range first(part.GetContentItemsMetadata().GetItemsMetadata()) {
		text = append(text, labelled(item.GetReelItem().GetTitle(), item.GetReelItem().GetVideoURL()))
	}
	return lines(text...)
}

// unifiedTexts returns the texts of the newer form, which is JSON: every string
// that is called "text", in the order of the lists that they are in.
func unifiedTexts(data []byte) (texts []string) {
	var whole any
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil // a stranger wrote something else there
	}
	collectTexts(whole, &texts)
	return texts
}

func collectTexts(v any, texts *[]string) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			collectTexts(element, texts)
		}
	case map[string]any:
		if text, ok := v["text"].(string); ok {
			*texts = append(*texts, text)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			collectTexts(v[name], texts)
		}
	}
}
