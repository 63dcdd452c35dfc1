package chats

import (
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/console/markup"
	"bridged/internal/folding"
)

// maxWords limits the searched words that a page marks in a message. In characters.
const maxWords = 200

// withWords adds searched words to the address of a message, so that its page marks them.
func withWords(path, words string, by bridge.Fold) string {
	if words == "" {
		return path
	}
	return path + "&" + url.Values{"q": {bridge.Beginning(words, maxWords)}, "fold": {string(by)}}.Encode()
}

// markHits marks the searched words of a request in the message that it asks for, and in its transcript.
func markHits(bubbles []bubble, query url.Values) {
	words, by := bridge.Beginning(query.Get("q"), maxWords), bridge.Fold(query.Get("fold"))
	if words == "" {
		return
	}
	for i := range bubbles {
		b := &bubbles[i]
		markHits(b.Pictures, query)
		if b.ID != query.Get("at") {
			continue
		}
		b.Text = marked(b.Text, words, by)
		if b.Transcript != nil {
			b.TranscriptParts = folding.Marked(b.Transcript.Text, words, by)
		}
	}
}

// marked returns a text with the matches of words marked. A match within two styles is not marked.
func marked(text []markup.Block, words string, by bridge.Fold) []markup.Block {
	for _, block := range text {
		for i := range block.Items {
			var spans []markup.Span
			for _, span := range block.Items[i].Spans {
				for _, part := range folding.Marked(span.Text, words, by) {
					piece := span
					piece.Text, piece.Found = part.Text, part.Found
					spans = append(spans, piece)
				}
			}
			block.Items[i].Spans = spans
		}
	}
	return text
}
