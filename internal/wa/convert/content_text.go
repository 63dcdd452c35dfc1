package convert

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/proto/waAICommonDeprecated"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

func readText(msg *waE2E.Message) shown {
	if msg.Conversation != nil {
		return shown{text: *msg.Conversation}
	}
	text := msg.GetExtendedTextMessage()
	s := shown{text: text.GetText()}
	if text.GetMatchedText() != "" || text.GetTitle() != "" {
		s.parts.LinkPreview = &bridge.LinkPreview{URL: text.GetMatchedText(), Title: text.GetTitle(), Description: text.GetDescription()}
	}
	return s
}

// lines joins the texts that are not empty.
func lines(texts ...string) string {
	kept := texts[:0:0]
	for _, text := range texts {
		if text = strings.TrimRight(text, "\n"); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n")
}

// labelled returns "label: text", or only one of them if the other is empty or the same.
func labelled(label, text string) string {
	if label == "" || text == "" || label == text {
		return cmp.Or(label, text)
	}
	return label + ": " + text
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// first bounds a sender's list.
func first[T any](list []T) []T { return list[:min(len(list), maxListed)] }

// readTitled reads kinds that show nothing but a few texts, by the names of their fields.
func readTitled(msg *waE2E.Message) shown {
	if music := msg.GetMusicMessage(); music != nil {
		return shown{text: lines(labelled(music.GetEmbeddedMusic().GetAuthor(), music.GetEmbeddedMusic().GetTitle()), music.GetSongUri())}
	}
	content := msg.ProtoReflect().Get(contentField(msg)).Message()
	var text []string
	for _, name := range []protoreflect.Name{"title", "newsletterName", "name", "publisher", "caption", "text"} {
		if field := content.Descriptor().Fields().ByName(name); field != nil {
			text = append(text, content.Get(field).String())
		}
	}
	return shown{text: lines(text...)}
}

// readPlaceholder reads a business's one-time passcode, which linked devices do not get.
func readPlaceholder(msg *waE2E.Message) shown {
	if msg.GetPlaceholderMessage().GetType() == waE2E.PlaceholderMessage_MASK_LINKED_DEVICES {
		return shown{text: "A one-time passcode was sent. Only the phone shows it."}
	}
	return shown{}
}

// readRichResponse reads the answer of an AI, in the older form or the newer.
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
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, element := range v {
				collect(element)
			}
		case map[string]any:
			if text, ok := v["text"].(string); ok {
				texts = append(texts, text)
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				collect(v[name])
			}
		}
	}
	var whole any
	if json.Unmarshal(data, &whole) == nil {
		collect(whole)
	}
	return texts
}
