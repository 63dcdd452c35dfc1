package mcp

import (
	"cmp"
	"context"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

type nothing struct{}

func addRead[In any](d door, name, title, description string, read func(*caller, context.Context, In) (answer, error)) {
	add(d, name, title, description, false, func(c call, ctx context.Context, in In) (*sdk.CallToolResult, answer, error) {
		shown, err := read(c.caller, ctx, in)
		return nil, shown, err
	})
}

// addReads registers the tools that every caller with the scope to read is offered.
func (d door) addReads() {
	addRead(d, "list_chats", "List chats", "Lists chats, the latest message first.", (*caller).chats)
	addRead(d, "get_chat", "Get a chat", "Shows one chat and its latest messages.",
		func(c *caller, ctx context.Context, in inChat) (answer, error) { return c.chat(ctx, in.JID) })
	addRead(d, "get_group", "Get a group", "Shows a group's topic and members.", (*caller).group)
	addRead(d, "find_contact", "Find a person", "Finds people in the address book, and others that the account has met, by a part of their name, username or number.", (*caller).contacts)
	addRead(d, "list_messages", "List messages", "Lists the messages of one chat.", (*caller).messages)
	addRead(d, "search_messages", "Search messages", "Searches the text of the messages of all chats, newest first.", (*caller).search)
	addRead(d, "get_message_context", "Get a message in its context", "Shows one message with those before and after it.", (*caller).context)
	addRead(d, "wait_for_messages", "Wait for messages", "Waits for new messages of any chat. Call it again with nextCursor to miss none.", (*caller).wait)
	add(d, "get_media", "Get a file", "Shows a small picture, or where any other file can be downloaded with the same token.", false, call.media)
}

// status returns the rights of the token, and the account's status if it may see that.
func (c *caller) status(ctx context.Context, _ nothing) (answer, error) {
	may := answer{"scopes": c.token.Scopes, "chats": c.token.Chats, "expiresAt": c.token.ExpiresAt, "toolsThatSend": c.maySend()}
	if c.maySend() {
		may["sendsTo"] = c.destinations()
	}
	shown := answer{"token": may, "account": nil}
	status, err := c.client.Status(ctx)
	switch {
	case bridge.CodeOf(err) == bridge.CodeForbidden:
		return shown, nil
	case err != nil:
		return nil, err
	}
	shown["account"] = answer{"status": status.Status, "since": status.Since, "lastError": status.LastError}
	return shown, nil
}

// destinations returns the chats that may be sent to: those that the token and
// the operator have both named, where both have.
func (c *caller) destinations() []bridge.JID {
	named := c.s.options.Chats
	switch {
	case named == nil:
		return c.token.Chats
	case c.token.Chats == nil:
		return named
	}
	return slices.DeleteFunc(slices.Clone(named), func(jid bridge.JID) bool { return !slices.Contains(c.token.Chats, jid) })
}

type listChats struct {
	Q      string `json:"q,omitempty" jsonschema:"a part of the chat's name or JID"`
	Type   string `json:"type,omitempty" jsonschema:"group, individual or all"`
	Limit  whole  `json:"limit,omitempty" jsonschema:"1 to 50, by default 20"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// inChat names a chat to read.
type inChat struct {
	JID bridge.JID `json:"jid" jsonschema:"the chat's JID, such as 15551234567@s.whatsapp.net or 120363025246125486@g.us"`
}

func (in inChat) chat() bridge.JID { return in.JID }

type findContact struct {
	Q string `json:"q" jsonschema:"a part of the person's name, username or number"`
}

func (c *caller) chats(ctx context.Context, in listChats) (answer, error) {
	page, err := c.client.Chats(ctx, bridge.ChatQuery{Type: bridge.ChatType(in.Type), Q: in.Q, Limit: pageOf(in.Limit), Cursor: in.Cursor})
	return answer{"untrusted": answer{"chats": each(page.Items, chatOf)}}.with(page.NextCursor), err
}

func (c *caller) contacts(ctx context.Context, in findContact) (answer, error) {
	page, err := c.client.Contacts(ctx, bridge.ContactQuery{Q: in.Q, Limit: maxPage})
	return answer{"untrusted": answer{"people": each(page.Items, personOf)}}, err
}

func personOf(p bridge.KnownContact) answer {
	shown := answer{"jid": p.JID, "name": capped(p.Name, maxName)}.named("chatJid", string(p.ChatJID)).named("pushName", p.PushName)
	if p.Username != nil {
		shown.named("username", *p.Username)
	}
	return shown
}

func pageOf(limit whole) int {
	if limit <= 0 {
		return 20
	}
	return min(int(limit), maxPage)
}

// latest limits the messages that are shown with a chat.
const latest = 20

// checkJID refuses texts that are no JIDs before they reach a path, and so a log.
func checkJID(jid bridge.JID) error {
	if _, err := bridge.ParseJID(string(jid)); err != nil {
		return bridge.Invalid("jid: %v", err)
	}
	return nil
}

func (c *caller) chat(ctx context.Context, jid bridge.JID) (answer, error) {
	if err := checkJID(jid); err != nil {
		return nil, err
	}
	found, err := c.client.Chat(ctx, jid)
	if err != nil {
		return nil, err
	}
	page, err := c.client.Messages(ctx, bridge.MessageQuery{Chat: found.JID, Limit: latest})
	if err != nil {
		return nil, err
	}
	return answer{"chatJid": found.JID, "untrusted": answer{"chat": chatOf(found), "messages": messagesOf(page.Items)}}.with(page.NextCursor), nil
}

// maxMembers bounds the members that are shown of one group.
const maxMembers = 200

func (c *caller) group(ctx context.Context, in inChat) (answer, error) {
	found, err := c.client.Group(ctx, in.JID)
	if err != nil {
		return nil, err
	}
	people := found.Stored.Participants
	shown := each(people[:min(len(people), maxMembers)], func(p bridge.Participant) answer {
		return answer{"jid": p.JID, "name": capped(p.DisplayName, maxName), "isAdmin": p.IsAdmin || p.IsSuperAdmin}
	})
	return answer{"chatJid": found.JID, "memberCount": len(people), "untrusted": answer{
		"name": capped(found.Stored.Name, maxName), "topic": capped(found.Stored.Topic, maxShort), "members": shown,
	}}, nil
}

type listMessages struct {
	inChat
	Since  string `json:"since,omitempty" jsonschema:"RFC 3339 or a date"`
	Until  string `json:"until,omitempty" jsonschema:"RFC 3339 or a date"`
	Q      string `json:"q,omitempty" jsonschema:"a part of the text"`
	Sender string `json:"sender,omitempty" jsonschema:"the JID of one person, in groups"`
	Order  string `json:"order,omitempty" jsonschema:"desc (the newest first, the default) or asc"`
	Limit  whole  `json:"limit,omitempty" jsonschema:"1 to 50, by default 20"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type searchMessages struct {
	Q        string `json:"q" jsonschema:"a part of the text, in any case"`
	Since    string `json:"since,omitempty" jsonschema:"RFC 3339 or a date"`
	Until    string `json:"until,omitempty" jsonschema:"RFC 3339 or a date"`
	ChatType string `json:"chatType,omitempty" jsonschema:"group, individual or all"`
	Limit    whole  `json:"limit,omitempty" jsonschema:"1 to 50, by default 20"`
	Cursor   string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type messageContext struct {
	inChat
	MsgID  string `json:"msgId" jsonschema:"the message in the middle"`
	Before whole  `json:"before,omitempty" jsonschema:"how many messages before it, at most 25, by default 5"`
	After  whole  `json:"after,omitempty" jsonschema:"how many messages after it, at most 25, by default 5"`
}

type waitForMessages struct {
	After   string `json:"after,omitempty" jsonschema:"nextCursor of an earlier call; left out: from now on"`
	Timeout whole  `json:"timeout,omitempty" jsonschema:"seconds to wait, at most 60, by default 30"`
}

func span(since, until string) (from, to *bridge.Time, err error) {
	if from, err = moment("since", since, bridge.ParseSince); err != nil {
		return nil, nil, err
	}
	to, err = moment("until", until, bridge.ParseUntil)
	return from, to, err
}

func moment(name, value string, parse func(string) (bridge.Time, error)) (*bridge.Time, error) {
	if value == "" {
		return nil, nil
	}
	at, err := parse(value)
	if err != nil {
		return nil, bridge.Invalid("%s %v", name, err)
	}
	return &at, nil
}

func (c *caller) messages(ctx context.Context, in listMessages) (answer, error) {
	since, until, err := span(in.Since, in.Until)
	if err != nil {
		return nil, err
	}
	page, err := c.client.Messages(ctx, bridge.MessageQuery{
		Chat: in.JID, Since: since, Until: until, Q: in.Q, Sender: bridge.JID(in.Sender), Order: bridge.Order(in.Order), Limit: pageOf(in.Limit), Cursor: in.Cursor,
	})
	return answer{"chatJid": in.JID, "untrusted": answer{"messages": messagesOf(page.Items)}}.with(page.NextCursor), err
}

func (c *caller) search(ctx context.Context, in searchMessages) (answer, error) {
	since, until, err := span(in.Since, in.Until)
	if err != nil {
		return nil, err
	}
	page, err := c.client.Search(ctx, bridge.SearchQuery{Q: in.Q, Since: since, Until: until, ChatType: bridge.ChatType(in.ChatType), Limit: pageOf(in.Limit), Cursor: in.Cursor})
	shown := each(page.Items, func(m bridge.Match) answer {
		return answer{
			"chatJid": m.ChatJID, "msgId": capped(m.MsgID, maxName), "senderJid": m.SenderJID, "senderName": capped(m.PushName, maxName),
			"timestamp": m.Timestamp, "text": capped(m.Content, maxShort),
		}
	})
	return answer{"untrusted": answer{"matches": shown}}.with(page.NextCursor), err
}

const (
	maxBeside = 25
	// sameMoment bounds the messages of one second between a message and its neighbours.
	sameMoment = 25
)

// context returns a message with its neighbours, the oldest first.
func (c *caller) context(ctx context.Context, in messageContext) (answer, error) {
	middle, err := c.client.Message(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, err
	}
	beside := func(wanted whole, order bridge.Order, since, until *bridge.Time) ([]bridge.Message, error) {
		count := min(int(wanted), maxBeside)
		if count <= 0 {
			count = 5
		}
		return c.following(ctx, middle.ID, count, bridge.MessageQuery{Chat: middle.Chat, Since: since, Until: until, Order: order, Limit: count + 1 + sameMoment})
	}
	before, err := beside(in.Before, bridge.OrderDesc, nil, &middle.Timestamp)
	if err != nil {
		return nil, err
	}
	after, err := beside(in.After, bridge.OrderAsc, &middle.Timestamp, nil)
	if err != nil {
		return nil, err
	}
	slices.Reverse(before)
	shown := append(messagesOf(before), messageOf(middle, maxLong))
	return answer{"chatJid": middle.Chat, "untrusted": answer{"messages": append(shown, messagesOf(after)...)}}, nil
}

// following returns up to count messages that follow one in a history, if it is among
// the first ones. Long messages may take several pages.
func (c *caller) following(ctx context.Context, id string, count int, q bridge.MessageQuery) (list []bridge.Message, err error) {
	looked, found := 0, false
	for m, err := range c.client.AllMessages(ctx, q) {
		switch {
		case err != nil:
			return nil, err
		case found:
			list = append(list, m)
		}
		found = found || m.ID == id
		if looked++; len(list) == count || looked == q.Limit {
			break
		}
	}
	return list, nil
}

func (c *caller) wait(ctx context.Context, in waitForMessages) (answer, error) {
	timeout := time.Duration(in.Timeout) * time.Second
	if timeout <= 0 {
		timeout = 30 * time.Second
	}
	query := client.EventQuery{After: cmp.Or(in.After, "now"), Types: []bridge.EventType{bridge.EventMessageCreated}}
	page, err := c.client.EventPage(ctx, query, maxPage, min(timeout, time.Minute))
	if err != nil {
		return nil, err
	}
	shown := []answer{}
	for _, e := range page.Events {
		if e.Message != nil {
			m := messageOf(*e.Message, maxShort)
			m["chatJid"] = e.ChatJID
			shown = append(shown, m)
		}
	}
	return answer{"missedSome": page.Reset, "untrusted": answer{"messages": shown}}.with(&page.NextCursor), nil
}
