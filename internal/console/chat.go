package console

import (
	"context"
	"net/url"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const (
	pageOfChats    = 50 // chats of a list
	pageOfMessages = 50 // messages of a chat
	around         = 25 // messages on each side of the one that was asked for
)

type chatPage struct {
	List         chatList
	Chat         bridge.Chat
	Name         string
	Bubbles      []bubble
	Older, Newer string // the addresses of the messages before and after; empty for none
	At           string // the message that was asked for
	Composer     composer
	Curl         string
}

// showChat answers a part of a chat: its newest messages, those around one
// (at), before a cursor (older) or after one (newer).
func (c *Console) showChat(v *visit) (err error) {
	ctx, query := v.r.Context(), v.r.URL.Query()
	page := chatPage{At: query.Get("at")}
	if page.Chat, err = v.api.Chat(ctx, v.chat); err != nil {
		return err
	}
	page.Name, page.Curl = nameOf(page.Chat), curl("GET", client.HistoryPath(page.Chat.JID)+"?limit=50", nil)
	if page.List, err = v.listChats(ctx, nil, page.Chat.JID); err != nil {
		return err
	}
	messages, err := page.read(ctx, v, query)
	if err != nil {
		return err
	}
	if page.Bubbles, err = v.bubbles(page.Chat, page.List.Items, messages); err != nil {
		return err
	}
	if page.Composer, err = v.composer(ctx, page.Chat, query); err != nil {
		return err
	}
	if page.Composer.On {
		v.w.Header().Set("Permissions-Policy", permissions("self"))
	}
	return v.show("chat", page.Name, page)
}

// read returns the messages that a page is asked for, the oldest first, and
// notes where those before and after them are.
func (p *chatPage) read(ctx context.Context, v *visit, query url.Values) (messages []bridge.Message, err error) {
	older := bridge.MessageQuery{Chat: p.Chat.JID, Order: bridge.OrderDesc, Cursor: query.Get("older"), Limit: pageOfMessages}
	newer := bridge.MessageQuery{Chat: p.Chat.JID, Order: bridge.OrderAsc, Cursor: query.Get("newer"), Limit: pageOfMessages}
	switch {
	case p.At != "":
		m, err := v.api.Message(ctx, p.Chat.JID, p.At)
		if err != nil {
			return nil, err
		}
		older.Cursor, older.Until, older.Limit = "", &m.Timestamp, around
		newer.Cursor, newer.Since, newer.Limit = "", &m.Timestamp, around
	case newer.Cursor != "":
		messages, p.Newer, err = v.part(ctx, newer)
		return messages, err
	}
	if messages, p.Older, err = v.part(ctx, older); err != nil || p.At == "" {
		return messages, err
	}
	after, next, err := v.part(ctx, newer)
	for _, m := range after {
		if !slices.ContainsFunc(messages, func(known bridge.Message) bool { return known.ID == m.ID }) {
			messages = append(messages, m)
		}
	}
	p.Newer = next
	return messages, err
}

// part returns messages, the oldest first, and the address of those that follow in q's order.
func (v *visit) part(ctx context.Context, q bridge.MessageQuery) (messages []bridge.Message, next string, err error) {
	page, err := v.api.Messages(ctx, q)
	if err != nil {
		return nil, "", err
	}
	parameter := "newer"
	if q.Order == bridge.OrderDesc {
		parameter = "older"
		slices.Reverse(page.Items)
	}
	return page.Items, more(chatPath(q.Chat), url.Values{}, parameter, page.NextCursor), nil
}

// more returns the address of the page at a cursor; empty for none.
func more(path string, query url.Values, parameter string, cursor *string) string {
	if cursor == nil {
		return ""
	}
	query.Set(parameter, *cursor)
	return path + "?" + query.Encode()
}

type chatList struct {
	Items []bridge.Chat
	Type  bridge.ChatType
	Open  bridge.JID // the chat that is shown beside the list
	More  string     // the address of the next page; empty for none
}

func (v *visit) listChats(ctx context.Context, query url.Values, open bridge.JID) (chatList, error) {
	list := chatList{Type: chatTypeOf(query), Open: open}
	page, err := v.api.Chats(ctx, bridge.ChatQuery{Type: list.Type, Limit: pageOfChats, Cursor: query.Get("cursor")})
	if err != nil {
		return list, err
	}
	list.Items = page.Items
	next := url.Values{}
	if list.Type != "" {
		next.Set("type", string(list.Type))
	}
	list.More = more(root+"/chats", next, "cursor", page.NextCursor)
	return list, nil
}

// chatTypeOf returns the kind of chats that a page is asked for.
func chatTypeOf(query url.Values) bridge.ChatType {
	switch kind := bridge.ChatType(query.Get("type")); kind {
	case bridge.ChatsGroup, bridge.ChatsIndividual:
		return kind
	}
	return ""
}

func (c *Console) showChats(v *visit) error {
	list, err := v.listChats(v.r.Context(), v.r.URL.Query(), "")
	if err != nil {
		return err
	}
	return v.show("chats", "Chats", struct {
		List chatList
		Curl string
	}{list, curl("GET", "/api/chats", nil)})
}

type membersPage struct {
	Chat     bridge.JID
	Name     string
	Group    bridge.Group
	Requests []bridge.JoinRequest
	Decides  bool // whether the visitor may let people in
	Curl     string
}

// showMembers answers the members of a group, and to its admins the requests to join it.
func (c *Console) showMembers(v *visit) error {
	if !v.chat.IsGroup() {
		return errUnknown
	}
	detail, err := v.api.Group(v.r.Context(), v.chat)
	if err != nil {
		return err
	}
	page := membersPage{Chat: detail.JID, Name: detail.Stored.Name, Group: detail.Stored.Group, Decides: v.sends(), Curl: curl("GET", "/api/groups/"+detail.JID.Escaped(), nil)}
	if detail.Live != nil {
		page.Group = *detail.Live
		page.Requests, err = v.api.JoinRequests(v.r.Context(), detail.JID)
		switch bridge.CodeOf(err) {
		case bridge.CodeNotAdmin, bridge.CodeNotInGroup, bridge.CodeNotConnected:
			err = nil // the requests are for admins only
		}
	}
	if err != nil {
		return err
	}
	return v.show("members", page.Name, page)
}

func (c *Console) decideJoinRequest(v *visit) error {
	person, err := bridge.ParseJID(v.r.PostForm.Get("person"))
	if err != nil {
		return err
	}
	action := bridge.ParticipantAction(v.r.PostForm.Get("action"))
	results, err := v.api.DecideJoinRequests(v.r.Context(), v.chat, action, []bridge.JID{person}, v.key())
	text := "They are in the group now."
	if action == bridge.ParticipantReject {
		text = "The request was rejected."
	}
	for _, result := range results {
		if result.Error != nil {
			text = sentence(*result.Error)
		}
	}
	return v.done(err, text, chatPath(v.chat)+"/members")
}
