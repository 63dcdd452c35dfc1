package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/proto/waAICommonDeprecated"
	"go.mau.fi/whatsmeow/proto/waE2E"
)

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
