package chats

import (
	"net/http"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/markup"
	"bridged/internal/console/view"
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

// hitsAtOnce is the number of hits within a chat that the script asks for at a time.
const hitsAtOnce = 100

// FindWithin answers the script with the messages of a chat that contain words, the newest first.
func FindWithin(req *frame.Request) error {
	query := req.URL.Query()
	q := bridge.SearchQuery{Q: bridge.Beginning(query.Get("q"), maxWords), Fold: bridge.FoldAccents, Chat: req.Chat, Limit: hitsAtOnce, Cursor: query.Get("cursor")}
	found := struct {
		IDs  []string    `json:"ids"`
		More string      `json:"more"` // the cursor of the next ones; empty if none
		Fold bridge.Fold `json:"fold"`
	}{IDs: []string{}, Fold: q.Fold}
	for range maxEmptyPages {
		page, err := req.API.Search(req.Context(), q)
		if err != nil {
			return err
		}
		for _, m := range page.Items {
			found.IDs = append(found.IDs, m.MsgID)
		}
		if found.More = view.Deref(page.NextCursor); found.More == "" || len(found.IDs) > 0 {
			break
		}
		q.Cursor = found.More
	}
	frame.WriteJSON(req.W, http.StatusOK, found)
	return nil
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
