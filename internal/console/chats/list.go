package chats

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

const (
	pageOfChats = 50   // chats of a page
	maxChats    = 2000 // chats of a list after scrolling
	maxCounted  = 100  // chats that are counted; the page shows more as "99+"
)

// chatList is the list of chats.
type chatList struct {
	Items    []bridge.Chat
	Shows    string // all (empty), unread, individual, group, label or archived
	Label    string // the id of the label that the chats have, if the list shows a label
	Labels   view.Labels
	Open     bridge.JID // the open chat
	Archived int        // number of archived chats
	Unread   int        // number of unread chats that are neither muted nor archived
	Sends    bool       // whether the visitor may change chats
	Imports  bool       // whether the visitor may import chats
	More     string     // the address of the list with more chats; empty if none
	Query    string     // the list's filter, for the addresses of its chats
	From     string     // the address of the list alone
}

// shows returns the filter of a request: which chats the list shows.
func shows(query url.Values) string {
	switch {
	case query.Get("archived") == "true":
		return "archived"
	case query.Get("unread") == "true":
		return "unread"
	case query.Get("label") != "":
		return "label"
	}
	return string(chatTypeOf(query))
}

// chatTypeOf returns the requested type of chats.
func chatTypeOf(query url.Values) bridge.ChatType {
	switch kind := bridge.ChatType(query.Get("type")); kind {
	case bridge.ChatsGroup, bridge.ChatsIndividual:
		return kind
	}
	return ""
}

// newList returns the requested list, without its chats.
func newList(req *frame.Request, query url.Values, open bridge.JID) (list chatList, err error) {
	list = chatList{Shows: shows(query), Open: open, Sends: req.Sends(), Imports: req.Imports()}
	if list.Shows == "label" {
		list.Label = query.Get("label")
	}
	list.Query = list.address().Encode()
	list.Labels, err = req.Labels()
	return list, err
}

// address returns the query of the list's address.
func (l chatList) address() url.Values {
	switch l.Shows {
	case "":
		return url.Values{}
	case "archived", "unread":
		return url.Values{l.Shows: {"true"}}
	case "label":
		return url.Values{"label": {l.Label}}
	}
	return url.Values{"type": {l.Shows}}
}

// listChats returns the requested chats, the pinned ones first.
func listChats(req *frame.Request, query url.Values, open bridge.JID) (list chatList, err error) {
	if list, err = newList(req, query, open); err != nil {
		return list, err
	}
	rows, err := strconv.Atoi(query.Get("rows"))
	if err != nil || rows < pageOfChats {
		rows = pageOfChats
	}
	rows = min(rows, maxChats)
	more, err := readChats(req, &list, rows)
	if err != nil {
		return list, err
	}
	if err := names.NameSenders(req, list.Items); err != nil {
		return list, err
	}
	if list.Unread, err = unreadChats(req); err != nil {
		return list, err
	}
	address := list.address()
	if more && rows < maxChats {
		address.Set("rows", strconv.Itoa(min(rows+pageOfChats, maxChats)))
		list.More = view.Root + "/chats?" + address.Encode()
	}
	address.Set("rows", strconv.Itoa(rows))
	if open != "" {
		address.Set("open", string(open))
	}
	list.From = view.Root + "/list?" + address.Encode()
	return list, nil
}

// maxOnly limits the changed chats that the script asks for at a time.
const maxOnly = 10

// listOnly returns the given chats, as far as they belong to the requested list.
func listOnly(req *frame.Request, query url.Values, open bridge.JID) (list chatList, err error) {
	if list, err = newList(req, query, open); err != nil {
		return list, err
	}
	for _, jid := range view.Typed[bridge.JID](query["only"][:min(len(query["only"]), maxOnly)]) {
		chat, err := req.API.Chat(req.Context(), jid)
		if err := passed(err); err != nil {
			return list, err
		}
		if err == nil && list.has(chat) {
			list.Items = append(list.Items, chat)
		}
	}
	if err := names.NameSenders(req, list.Items); err != nil {
		return list, err
	}
	list.Unread, err = unreadChats(req)
	return list, err
}

// has reports whether a chat belongs to a list.
func (l chatList) has(chat bridge.Chat) bool {
	switch l.Shows {
	case "unread":
		return !chat.Archived && chat.UnreadCount != 0
	case "label": // as in the apps, with archived chats
		return slices.Contains(chat.Labels, l.Label)
	case string(bridge.ChatsGroup), string(bridge.ChatsIndividual):
		return !chat.Archived && chat.IsGroup == (l.Shows == string(bridge.ChatsGroup))
	}
	return chat.Archived == (l.Shows == "archived")
}

// readChats reads a number of chats into a list, and reports whether there are more.
func readChats(req *frame.Request, list *chatList, rows int) (more bool, err error) {
	q := bridge.ChatQuery{Archived: new(list.Shows == "archived"), Pinned: new(false), Limit: min(rows, maxPage)}
	switch list.Shows {
	case "unread":
		q.Unread = new(true)
	case "archived":
		q.Pinned = nil
	case "label":
		q.Archived, q.Label = nil, list.Label
	default:
		q.Type = bridge.ChatType(list.Shows)
	}
	if q.Pinned != nil {
		pinned := q
		pinned.Pinned = new(true)
		page, err := req.API.Chats(req.Context(), pinned)
		if err != nil {
			return false, err
		}
		list.Items = page.Items
	}
	if list.Shows == "" {
		page, err := req.API.Chats(req.Context(), bridge.ChatQuery{Archived: new(true), Limit: maxCounted})
		if err != nil {
			return false, err
		}
		list.Archived = len(page.Items)
	}
	for rows > 0 {
		q.Limit = min(rows, maxPage)
		page, err := req.API.Chats(req.Context(), q)
		list.Items = append(list.Items, page.Items...)
		if err != nil || page.NextCursor == nil {
			return false, err
		}
		q.Cursor, rows = *page.NextCursor, rows-max(len(page.Items), 1)
	}
	return true, nil
}

// maxPage limits a page of the API.
const maxPage = 500

// unreadChats counts the unread chats that are not muted, up to maxCounted.
func unreadChats(req *frame.Request) (count int, err error) {
	page, err := req.API.Chats(req.Context(), bridge.ChatQuery{Unread: new(true), Archived: new(false), Limit: maxCounted})
	for _, chat := range page.Items {
		if chat.MutedUntil == nil {
			count++
		}
	}
	return count, err
}

// ShowChats shows the list of chats.
func ShowChats(req *frame.Request) error {
	list, err := listChats(req, req.URL.Query(), "")
	if err != nil {
		return err
	}
	title := "Chats"
	if list.Shows == "archived" {
		title = "Archived chats"
	}
	return req.Show("chats", title, struct {
		List chatList
		Curl string
	}{list, req.Curl("GET", "/api/chats?archived="+strconv.FormatBool(list.Shows == "archived"), nil)})
}

// ShowList answers the script with the list, or with the changed chats of it (only).
func ShowList(req *frame.Request) error {
	query := req.URL.Query()
	open, _ := bridge.ParseJID(query.Get("open")) // if it is malformed, no chat is marked
	read := listChats
	if query.Has("only") {
		read = listOnly
	}
	list, err := read(req, query, open)
	if err != nil {
		return err
	}
	return req.PartOf("chats", "chat-list", map[string]any{"List": list, "Clock": req.Clock()})
}

// CountUnread answers with the number of unread chats and the end of the event log.
func CountUnread(req *frame.Request) error {
	cursor, err := req.API.LastEvent(req.Context())
	if err != nil {
		return err
	}
	count, err := unreadChats(req)
	if err != nil {
		return err
	}
	frame.WriteJSON(req.W, http.StatusOK, map[string]any{"unread": count, "cursor": cursor})
	return nil
}

// ListUnread answers with the unread chats that are not archived, up to maxChats.
func ListUnread(req *frame.Request) error {
	jids := []bridge.JID{}
	for chat, err := range req.API.AllChats(req.Context(), bridge.ChatQuery{Unread: new(true), Archived: new(false), Limit: maxPage}) {
		if err != nil {
			return err
		}
		if jids = append(jids, chat.JID); len(jids) == maxChats {
			break
		}
	}
	frame.WriteJSON(req.W, http.StatusOK, map[string]any{"chats": jids})
	return nil
}

// lastTick returns the delivery of a chat's last message; nil for messages of others.
func lastTick(m bridge.LastMessage) *Tick {
	if m.Status == nil || m.DeletedAt != nil {
		return nil
	}
	return new(ticks[*m.Status])
}
