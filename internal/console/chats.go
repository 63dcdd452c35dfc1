package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"bridged/internal/bridge"
)

const (
	pageOfChats = 50   // chats of a list
	mostChats   = 2000 // of a list that has grown by scrolling
	mostCounted = 100  // chats that are counted one by one; more are "99+"
)

// chatList is the list beside a chat, or a part of it.
type chatList struct {
	Items    []bridge.Chat
	Shows    string     // all (empty), unread, individual, group or archived
	Open     bridge.JID // the chat that is shown beside the list
	Archived int        // how many chats the row of the archive leads to
	Unread   int        // chats with news that are neither muted nor archived
	Sends    bool       // whether the visitor may change how chats are kept
	Imports  bool       // and take in exported ones
	More     string     // the address of the list with more chats; empty for none
	Query    string     // what keeps the list as it is in the addresses of chats
	From     string     // the address of the list alone
}

// shows returns which chats a page is asked for.
func shows(query url.Values) string {
	switch {
	case query.Get("archived") == "true":
		return "archived"
	case query.Get("unread") == "true":
		return "unread"
	}
	return string(chatTypeOf(query))
}

// chatTypeOf returns the kind of chats that a page is asked for.
func chatTypeOf(query url.Values) bridge.ChatType {
	switch kind := bridge.ChatType(query.Get("type")); kind {
	case bridge.ChatsGroup, bridge.ChatsIndividual:
		return kind
	}
	return ""
}

// addressOfList returns the query of a list's address.
func addressOfList(shows string) url.Values {
	switch shows {
	case "":
		return url.Values{}
	case "archived", "unread":
		return url.Values{shows: {"true"}}
	}
	return url.Values{"type": {shows}}
}

// listChats returns the chats that a page is asked for, the pinned ones first.
func (v *visit) listChats(ctx context.Context, query url.Values, open bridge.JID) (list chatList, err error) {
	list = chatList{Shows: shows(query), Open: open, Sends: v.sends(), Imports: v.imports()}
	rows, err := strconv.Atoi(query.Get("rows"))
	if err != nil || rows < pageOfChats {
		rows = pageOfChats
	}
	rows = min(rows, mostChats)
	more, err := v.readChats(ctx, &list, rows)
	if err != nil {
		return list, err
	}
	if err := v.nameSenders(list.Items); err != nil {
		return list, err
	}
	if list.Unread, err = v.unreadChats(ctx); err != nil {
		return list, err
	}
	address := addressOfList(list.Shows)
	list.Query = address.Encode()
	if more && rows < mostChats {
		address.Set("rows", strconv.Itoa(min(rows+pageOfChats, mostChats)))
		list.More = root + "/chats?" + address.Encode()
	}
	address.Set("rows", strconv.Itoa(rows))
	if open != "" {
		address.Set("open", string(open))
	}
	list.From = root + "/list?" + address.Encode()
	return list, nil
}

// readChats fills a list with so many chats, and reports whether there are more.
func (v *visit) readChats(ctx context.Context, list *chatList, rows int) (more bool, err error) {
	q := bridge.ChatQuery{Archived: new(list.Shows == "archived"), Pinned: new(false), Limit: rows}
	switch list.Shows {
	case "unread":
		q.Unread = new(true)
	case "archived":
		q.Pinned = nil
	default:
		q.Type = bridge.ChatType(list.Shows)
	}
	if q.Pinned != nil {
		pinned := q
		pinned.Pinned = new(true)
		page, err := v.api.Chats(ctx, pinned)
		if err != nil {
			return false, err
		}
		list.Items = page.Items
	}
	if list.Shows == "" {
		page, err := v.api.Chats(ctx, bridge.ChatQuery{Archived: new(true), Limit: mostCounted})
		if err != nil {
			return false, err
		}
		list.Archived = len(page.Items)
	}
	for rows > 0 {
		q.Limit = min(rows, mostOfPage)
		page, err := v.api.Chats(ctx, q)
		list.Items = append(list.Items, page.Items...)
		if err != nil || page.NextCursor == nil {
			return false, err
		}
		q.Cursor, rows = *page.NextCursor, rows-max(len(page.Items), 1)
	}
	return true, nil
}

// mostOfPage is how many chats the API lists at once.
const mostOfPage = 500

// unreadChats counts the chats that have news, up to mostCounted.
func (v *visit) unreadChats(ctx context.Context) (count int, err error) {
	page, err := v.api.Chats(ctx, bridge.ChatQuery{Unread: new(true), Archived: new(false), Limit: mostCounted})
	for _, chat := range page.Items {
		if chat.MutedUntil == nil {
			count++
		}
	}
	return count, err
}

func (c *Console) showChats(v *visit) error {
	list, err := v.listChats(v.r.Context(), v.r.URL.Query(), "")
	if err != nil {
		return err
	}
	title := "Chats"
	if list.Shows == "archived" {
		title = "Archived chats"
	}
	return v.show("chats", title, struct {
		List chatList
		Curl string
	}{list, curl("GET", "/api/chats?archived="+strconv.FormatBool(list.Shows == "archived"), nil)})
}

// showList answers the list alone, as the script renews it.
func (c *Console) showList(v *visit) error {
	query := v.r.URL.Query()
	open, _ := bridge.ParseJID(query.Get("open")) // an unknown one is open nowhere
	list, err := v.listChats(v.r.Context(), query, open)
	if err != nil {
		return err
	}
	return v.partOf("chats", "chat-list", map[string]any{"List": list, "Clock": v.clock()})
}

// partOf answers a part of a page's template for the script.
func (v *visit) partOf(name, part string, data any) error {
	return v.c.views.render(v.w, http.StatusOK, name, part, data)
}

// countUnread answers how many chats have news, and where the log of events ends.
func (c *Console) countUnread(v *visit) error {
	cursor, err := v.api.LastEvent(v.r.Context())
	if err != nil {
		return err
	}
	count, err := v.unreadChats(v.r.Context())
	if err != nil {
		return err
	}
	writeJSON(v.w, http.StatusOK, map[string]any{"unread": count, "cursor": cursor})
	return nil
}

// lastTick returns how far an own message got that is a chat's last; nil for one of others.
func lastTick(m bridge.LastMessage) *tick {
	if m.Status == nil || m.DeletedAt != nil {
		return nil
	}
	return new(ticks[*m.Status])
}
