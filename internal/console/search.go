package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// pageOfHits is how many hits a page shows.
const pageOfHits = 50

// searchPage is what was looked for and what was found.
type searchPage struct {
	Q     string
	Type  bridge.ChatType
	Chat  bridge.JID
	Name  string // of the chat, where only one is searched
	Since string
	Until string
	Asked bool
	Hits  []hit
	More  string
	Curl  string
}

// hit is a message that was found, with what stands around the words.
type hit struct {
	Chat   bridge.JID
	Name   string
	Group  bool
	Sender string
	At     bridge.Time
	Parts  []part
	Path   string
}

// part is a piece of a hit's text.
type part struct {
	Text  string
	Found bool
}

// showSearch answers a search over all chats, or in one.
func (c *Console) showSearch(v *visit) (err error) {
	query := v.r.URL.Query()
	page := searchPage{Q: query.Get("q"), Type: chatTypeOf(query), Since: query.Get("since"), Until: query.Get("until")}
	if jid, err := bridge.ParseJID(query.Get("chat")); err == nil {
		page.Chat = jid
	}
	page.Asked = strings.TrimSpace(page.Q) != ""
	if page.Chat != "" {
		chat, err := v.api.Chat(v.r.Context(), page.Chat)
		if err != nil {
			return err
		}
		page.Name = nameOf(chat)
	}
	if page.Asked {
		if err := page.find(v.r.Context(), v, query); err != nil {
			return err
		}
	}
	v.show(http.StatusOK, "search", "Search", page)
	return nil
}

// find searches, and shows the hits in their context.
func (p *searchPage) find(ctx context.Context, v *visit, query url.Values) error {
	since, err := v.day(p.Since, false)
	if err != nil {
		return err
	}
	until, err := v.day(p.Until, true)
	if err != nil {
		return err
	}
	var next *string
	if p.Chat != "" {
		next, err = p.findIn(ctx, v, bridge.MessageQuery{Chat: p.Chat, Q: p.Q, Since: since, Until: until, Limit: pageOfHits, Cursor: query.Get("cursor")})
	} else {
		next, err = p.findAnywhere(ctx, v, bridge.SearchQuery{Q: p.Q, Since: since, Until: until, ChatType: p.Type, Limit: pageOfHits, Cursor: query.Get("cursor")})
	}
	if next != nil {
		query.Set("cursor", *next)
		p.More = root + "/search?" + query.Encode()
	}
	return err
}

// findIn searches one chat.
func (p *searchPage) findIn(ctx context.Context, v *visit, q bridge.MessageQuery) (*string, error) {
	p.Curl = curlGet(historyPath(p.Chat) + "?" + url.Values{"q": {p.Q}}.Encode())
	found, err := v.api.Messages(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, m := range found.Items {
		p.Hits = append(p.Hits, hit{
			Chat: p.Chat, Name: p.Name, Group: p.Chat.IsGroup(), Sender: senderOf(m.PushName, m.SenderJID, m.FromMe), At: m.Timestamp,
			Parts: excerpt(m.Content, p.Q), Path: jump(p.Chat, m.ID),
		})
	}
	return found.NextCursor, nil
}

// findAnywhere searches all chats.
func (p *searchPage) findAnywhere(ctx context.Context, v *visit, q bridge.SearchQuery) (*string, error) {
	p.Curl = curlGet("/api/messages/search?" + url.Values{"q": {p.Q}}.Encode())
	found, err := v.api.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, m := range found.Items {
		name := m.ChatName
		if strings.TrimSpace(name) == "" {
			name = phoneOf(m.ChatJID)
		}
		p.Hits = append(p.Hits, hit{
			Chat: m.ChatJID, Name: name, Group: m.IsGroup, Sender: senderOf(m.PushName, m.SenderJID, m.FromMe), At: m.Timestamp,
			Parts: excerpt(m.Content, p.Q), Path: jump(m.ChatJID, m.MsgID),
		})
	}
	return found.NextCursor, nil
}

// day reads a day of a form, in the visitor's time zone; nil for none.
func (v *visit) day(text string, last bool) (*bridge.Time, error) {
	if text == "" {
		return nil, nil
	}
	day, err := parseDay(text, v.session.location())
	if err != nil {
		return nil, problem{http.StatusBadRequest, "This is not a day", "Write a day as 2026-11-21.", ""}
	}
	if last {
		day = day.AddDate(0, 0, 1).Add(-1)
	}
	at := bridge.At(day)
	return &at, nil
}

func senderOf(pushName string, jid bridge.JID, fromMe bool) string {
	switch {
	case fromMe:
		return "You"
	case strings.TrimSpace(pushName) != "":
		return pushName
	}
	return phoneOf(jid)
}

// jump returns the page of a chat at a message.
func jump(chat bridge.JID, id string) string {
	return chatPath(chat) + "?at=" + escapeQuery(id) + "#m-" + bridge.PathID(id)
}

// Characters that stand before and behind the words that were found.
const (
	wordsBefore = 60
	wordsAfter  = 160
)

// excerpt returns what stands around the words that were looked for, with them
// marked. The bridge finds more than what has the same letters here (STRASSE and
// Straße); such a hit is shown from its beginning.
func excerpt(content, q string) []part {
	text := strings.Join(strings.Fields(content), " ")
	start, end := foundAt(text, strings.Join(strings.Fields(q), " "))
	if end == 0 {
		return []part{{Text: firstCharacters(text, wordsBefore+wordsAfter)}}
	}
	before, found, after := text[:start], text[start:end], text[end:]
	if n := utf8.RuneCountInString(before); n > wordsBefore {
		before = "…" + string([]rune(before)[n-wordsBefore:])
	}
	return []part{{Text: before}, {Text: found, Found: true}, {Text: firstCharacters(after, wordsAfter)}}
}

// foundAt returns where words stand in a text, whatever their case.
func foundAt(text, words string) (start, end int) {
	if words == "" {
		return 0, 0
	}
	for i := range text {
		if rest := text[i:]; len(rest) >= len(words)/3 {
			if n := prefixFold(rest, words); n > 0 {
				return i, i + n
			}
		}
	}
	return 0, 0
}

// prefixFold returns how many bytes of a text are the words in any case; 0 if it
// does not begin with them. As for the bridge, ß is ss.
func prefixFold(text, words string) int {
	n := 0
	for words != "" {
		got, size := utf8.DecodeRuneInString(text[n:])
		want, width := utf8.DecodeRuneInString(words)
		switch {
		case size == 0:
			return 0
		case (got == 'ß' || got == 'ẞ') && len(words) > 1 && strings.EqualFold(words[:2], "ss"):
			width = 2
		case got != want && !strings.EqualFold(string(got), string(want)):
			return 0
		}
		n, words = n+size, words[width:]
	}
	return n
}

// firstCharacters returns the beginning of a text.
func firstCharacters(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
