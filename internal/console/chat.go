package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const (
	// pageOfMessages is how many messages a chat shows at once.
	pageOfMessages = 50
	// around is how many messages stand on each side of the one that was asked
	// for.
	around = 25
)

// chatPage is one chat, with the list of chats beside it.
type chatPage struct {
	List     chatList
	Chat     bridge.Chat
	Name     string
	Bubbles  []bubble
	Older    string // the address of the messages before; empty for none
	Newer    string // of those that follow
	At       string // the message that was asked for
	Composer composer
	Curl     string
}

// showChat answers a part of a chat: its newest messages, those around one
// (at), before a cursor (older) or behind one (newer).
func (c *Console) showChat(v *visit) (err error) {
	ctx, query := v.r.Context(), v.r.URL.Query()
	jid, err := v.chat()
	if err != nil {
		return err
	}
	page := chatPage{At: query.Get("at")}
	if page.Chat, err = v.api.Chat(ctx, jid); err != nil {
		return err
	}
	page.Name, page.Curl = nameOf(page.Chat), curlGet(client.HistoryPath(page.Chat.JID)+"?limit=50")
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
	v.show(http.StatusOK, "chat", page.Name, page)
	return nil
}

// chat returns the chat that the path names.
func (v *visit) chat() (bridge.JID, error) {
	jid, err := bridge.ParseJID(v.r.PathValue("jid"))
	if err != nil {
		return "", errUnknown
	}
	return jid, nil
}

// read returns the messages that a page is asked for, the oldest first, and
// notes where those before and after them are.
func (p *chatPage) read(ctx context.Context, v *visit, query url.Values) ([]bridge.Message, error) {
	switch {
	case p.At != "":
		return p.readAround(ctx, v)
	case query.Get("newer") != "":
		return p.readOn(ctx, v, bridge.MessageQuery{Order: bridge.OrderAsc, Cursor: query.Get("newer"), Limit: pageOfMessages})
	}
	return p.readBack(ctx, v, bridge.MessageQuery{Order: bridge.OrderDesc, Cursor: query.Get("older"), Limit: pageOfMessages})
}

// readBack reads towards the past.
func (p *chatPage) readBack(ctx context.Context, v *visit, q bridge.MessageQuery) ([]bridge.Message, error) {
	q.Chat = p.Chat.JID
	page, err := v.api.Messages(ctx, q)
	if err != nil {
		return nil, err
	}
	slices.Reverse(page.Items)
	p.Older = p.link("older", page.NextCursor)
	return page.Items, nil
}

// readOn reads towards the present.
func (p *chatPage) readOn(ctx context.Context, v *visit, q bridge.MessageQuery) ([]bridge.Message, error) {
	q.Chat = p.Chat.JID
	page, err := v.api.Messages(ctx, q)
	if err != nil {
		return nil, err
	}
	p.Newer = p.link("newer", page.NextCursor)
	return page.Items, nil
}

// readAround reads on both sides of a message.
func (p *chatPage) readAround(ctx context.Context, v *visit) ([]bridge.Message, error) {
	m, err := v.api.Message(ctx, p.Chat.JID, p.At)
	if err != nil {
		return nil, err
	}
	before, err := p.readBack(ctx, v, bridge.MessageQuery{Order: bridge.OrderDesc, Until: &m.Timestamp, Limit: around})
	if err != nil {
		return nil, err
	}
	after, err := p.readOn(ctx, v, bridge.MessageQuery{Order: bridge.OrderAsc, Since: &m.Timestamp, Limit: around})
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(before))
	for _, m := range before {
		known[m.ID] = true
	}
	both := before
	for _, m := range after {
		if !known[m.ID] {
			both = append(both, m)
		}
	}
	return both, nil
}

// link returns the address of another part of the chat; empty for none.
func (p *chatPage) link(name string, cursor *string) string {
	if cursor == nil {
		return ""
	}
	return chatPath(p.Chat.JID) + "?" + url.Values{name: {*cursor}}.Encode()
}

// pageOfChats is how many chats a list shows at once.
const pageOfChats = 50

// chatList is a page of chats beside or before what is read.
type chatList struct {
	Items []bridge.Chat
	Type  bridge.ChatType
	Open  bridge.JID // the chat that is read
	More  string     // the address of the next page; empty for none
}

// listChats returns a page of the list of chats.
func (v *visit) listChats(ctx context.Context, query url.Values, open bridge.JID) (chatList, error) {
	list := chatList{Type: chatTypeOf(query), Open: open}
	page, err := v.api.Chats(ctx, bridge.ChatQuery{Type: list.Type, Limit: pageOfChats, Cursor: query.Get("cursor")})
	if err != nil {
		return list, err
	}
	list.Items = page.Items
	if page.NextCursor != nil {
		next := url.Values{"cursor": {*page.NextCursor}}
		if list.Type != "" {
			next.Set("type", string(list.Type))
		}
		list.More = root + "/chats?" + next.Encode()
	}
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

// chatsPage is the list of chats alone.
type chatsPage struct {
	List chatList
	Curl string
}

// showChats answers the list of chats.
func (c *Console) showChats(v *visit) (err error) {
	page := chatsPage{Curl: curlGet("/api/chats")}
	if page.List, err = v.listChats(v.r.Context(), v.r.URL.Query(), ""); err != nil {
		return err
	}
	v.show(http.StatusOK, "chats", "Chats", page)
	return nil
}

// membersPage is who is in a group, and who asks to be let in.
type membersPage struct {
	Chat     bridge.JID
	Name     string
	Group    bridge.Group
	Requests []bridge.JoinRequest
	Decides  bool // whether the visitor may let people in
	Curl     string
}

// showMembers answers the members of a group, and where the account is one of its
// admins, who asks to be let in.
func (c *Console) showMembers(v *visit) error {
	ctx := v.r.Context()
	jid, err := v.chat()
	if err != nil {
		return err
	}
	if !jid.IsGroup() {
		return errUnknown
	}
	detail, err := v.api.Group(ctx, jid)
	if err != nil {
		return err
	}
	page := membersPage{Chat: detail.JID, Name: detail.Stored.Name, Group: detail.Stored.Group, Decides: v.sends(), Curl: curlGet("/api/groups/" + detail.JID.Escaped())}
	if detail.Live != nil {
		page.Group = *detail.Live
		if page.Requests, err = v.joinRequests(ctx, detail.JID); err != nil {
			return err
		}
	}
	v.show(http.StatusOK, "members", page.Name, page)
	return nil
}

// joinRequests returns who asks to be let into a group; none where only its admins
// may know.
func (v *visit) joinRequests(ctx context.Context, group bridge.JID) ([]bridge.JoinRequest, error) {
	requests, err := v.api.JoinRequests(ctx, group)
	switch bridge.CodeOf(err) {
	case bridge.CodeNotAdmin, bridge.CodeNotInGroup, bridge.CodeNotConnected:
		return nil, nil
	}
	return requests, err
}

// decideJoinRequest lets a person into a group, or does not.
func (c *Console) decideJoinRequest(v *visit) error {
	group, err := v.chat()
	if err != nil {
		return err
	}
	person, err := bridge.ParseJID(v.r.PostForm.Get("person"))
	if err != nil {
		return err
	}
	action := bridge.ParticipantAction(v.r.PostForm.Get("action"))
	results, err := v.api.DecideJoinRequests(v.r.Context(), group, action, []bridge.JID{person}, v.key())
	if err != nil {
		return err
	}
	text := "They are in the group now."
	if action == bridge.ParticipantReject {
		text = "The request was rejected."
	}
	for _, result := range results {
		if result.Error != nil {
			text = sentence(*result.Error)
		}
	}
	return v.done(text, chatPath(group)+"/members")
}
