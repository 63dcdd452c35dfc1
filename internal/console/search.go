package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/folding"
)

const pageOfHits = 50

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

// hit is a message that was found, with an excerpt around the words.
type hit struct {
	Chat   bridge.JID
	Name   string
	Group  bool
	Sender string
	At     bridge.Time
	Parts  []folding.Part
	Path   string
}

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
	return v.show("search", "Search", page)
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
	var found bridge.Page[bridge.Match]
	path := "/api/messages/search"
	if p.Chat != "" {
		path = client.HistoryPath(p.Chat)
		var page bridge.Page[bridge.Message]
		page, err = v.api.Messages(ctx, bridge.MessageQuery{Chat: p.Chat, Q: p.Q, Since: since, Until: until, Limit: pageOfHits, Cursor: query.Get("cursor")})
		for _, m := range page.Items {
			found.Items = append(found.Items, bridge.Match{
				ChatJID: p.Chat, ChatName: p.Name, IsGroup: p.Chat.IsGroup(), MsgID: m.ID,
				PushName: m.PushName, SenderJID: m.SenderJID, FromMe: m.FromMe, Timestamp: m.Timestamp, Content: m.Content,
			})
		}
		found.NextCursor = page.NextCursor
	} else {
		found, err = v.api.Search(ctx, bridge.SearchQuery{Q: p.Q, Since: since, Until: until, ChatType: p.Type, Limit: pageOfHits, Cursor: query.Get("cursor")})
	}
	p.Curl = curl("GET", path+"?"+url.Values{"q": {p.Q}}.Encode(), nil)
	if err == nil {
		err = v.nameMatches(found.Items)
	}
	if err != nil {
		return err
	}
	for _, m := range found.Items {
		p.Hits = append(p.Hits, hit{
			Chat: m.ChatJID, Name: nameOf(bridge.Chat{JID: m.ChatJID, Name: m.ChatName}), Group: m.IsGroup,
			Sender: senderOf(m.PushName, m.SenderJID, m.FromMe), At: m.Timestamp, Parts: folding.Around(m.Content, p.Q, wordsBefore, wordsAfter), Path: jump(m.ChatJID, m.MsgID),
		})
	}
	p.More = more(root+"/search", query, "cursor", found.NextCursor)
	return nil
}

// day reads a day of a form, in the visitor's time zone; nil for none.
func (v *visit) day(text string, last bool) (*bridge.Time, error) {
	if text == "" {
		return nil, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, v.session.zone.Load())
	if err != nil {
		return nil, problem{http.StatusBadRequest, "This is not a day", "Write a day as 2026-11-21.", ""}
	}
	if last {
		day = day.AddDate(0, 0, 1).Add(-1)
	}
	return new(bridge.At(day)), nil
}

// jump returns the page of a chat at a message.
func jump(chat bridge.JID, id string) string {
	return chatPath(chat) + "?at=" + url.QueryEscape(id) + "#m-" + bridge.PathID(id)
}

const (
	wordsBefore = 60  // characters before the words that were found
	wordsAfter  = 160 // characters after them
)
