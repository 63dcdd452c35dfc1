package chats

import (
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/markup"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

const (
	pageOfGallery = 60  // entries of a page, about
	galleryReads  = 8   // API pages that are read for one page
	galleryLimit  = 200 // messages of each
)

// galleryPage shows the pictures, files or links of a chat, the newest first.
type galleryPage struct {
	Chat   bridge.JID
	Name   string
	Tab    galleryTab
	Tabs   []galleryTab
	Months []galleryMonth
	More   string // the address of the next page; empty if none
	Curl   string
}

// galleryTab is a part of the gallery.
type galleryTab struct {
	Name, Title string
	Type        string // the API's filter
	None        string // the text of an empty tab
}

var galleryTabs = []galleryTab{
	{"pictures", "Photos & videos", bridge.TypeMedia, "No photos or videos yet"},
	{"files", "Files", string(bridge.MediaDocument), "No files yet"},
	{"links", "Links", bridge.TypeLink, "No links yet"},
}

type galleryMonth struct {
	Key, Name string
	Entries   []galleryEntry
}

// galleryEntry is a message in the gallery.
type galleryEntry struct {
	bubble
	Path  string // of the message in the chat
	Links []string
}

// ShowGallery shows the pictures and videos, files or links of a chat.
func ShowGallery(req *frame.Request) error {
	chat, err := req.API.Chat(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	query := req.URL.Query()
	page := galleryPage{Chat: chat.JID, Name: view.ChatName(chat), Tabs: galleryTabs, Tab: galleryTabs[0]}
	for _, tab := range galleryTabs {
		if tab.Name == query.Get("tab") {
			page.Tab = tab
		}
	}
	page.Curl = req.Curl("GET", client.HistoryPath(chat.JID)+"?"+url.Values{"type": {page.Tab.Type}}.Encode(), nil)
	messages, next, err := gallery(req, chat.JID, page.Tab, query.Get("older"))
	if err != nil {
		return err
	}
	page.More = view.NextPage(galleryPath(chat.JID), url.Values{"tab": {page.Tab.Name}}, "older", next)
	n, err := names.OfMessages(req, []bridge.Chat{chat}, messages)
	if err != nil {
		return err
	}
	page.Months = inMonths(chat.JID, messages, n, req.Clock())
	return req.Show("gallery", page.Name+": media", page)
}

func galleryPath(chat bridge.JID) string { return view.ChatPath(chat) + "/media" }

// gallery reads messages of a tab, the newest first. Pages of filtered histories may be short, so it
// reads several.
func gallery(req *frame.Request, chat bridge.JID, tab galleryTab, cursor string) (messages []bridge.Message, next *string, err error) {
	q := bridge.MessageQuery{Chat: chat, Order: bridge.OrderDesc, Limit: pageOfGallery, Cursor: cursor}
	q.Type = tab.Type
	if tab.Type == bridge.TypeMedia {
		q.Limit = galleryLimit
	}
	for range galleryReads {
		page, err := req.API.Messages(req.Context(), q)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range page.Items {
			if m.DeletedAt == nil && tab.has(m) {
				messages = append(messages, m)
			}
		}
		if next = page.NextCursor; next == nil || len(messages) >= pageOfGallery {
			break
		}
		q.Cursor = *next
	}
	return messages, next, nil
}

// has reports whether a tab shows a message that the API found for it.
func (t galleryTab) has(m bridge.Message) bool {
	if t.Type != bridge.TypeMedia {
		return true
	}
	return m.Media != nil && !m.ViewOnce && (m.Media.Type == bridge.MediaImage || m.Media.Type == bridge.MediaVideo)
}

// inMonths divides messages, the newest first, by their months.
func inMonths(chat bridge.JID, messages []bridge.Message, n names.Names, c view.Clock) (months []galleryMonth) {
	for _, m := range messages {
		at := m.Timestamp.In(c.Zone)
		key := at.Format("2006-01")
		if len(months) == 0 || months[len(months)-1].Key != key {
			months = append(months, galleryMonth{Key: key, Name: at.Format("January 2006")})
		}
		entry := galleryEntry{bubble: newBubble(m, n, c), Path: jump(chat, m.ID)}
		entry.ChatJID = chat
		for _, found := range bridge.Links(m.Content, markup.MaxSpans) {
			entry.Links = append(entry.Links, m.Content[found[0]:found[1]])
		}
		if len(entry.Links) == 0 && m.LinkPreview != nil && len(bridge.Links(m.LinkPreview.URL, markup.MaxSpans)) == 1 {
			entry.Links = []string{m.LinkPreview.URL}
		}
		last := &months[len(months)-1]
		last.Entries = append(last.Entries, entry)
	}
	return months
}
