package mcp

import (
	"context"
	"slices"
	"strconv"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/folding"
)

type nothing struct{}

// inChat names a chat to read.
type inChat struct {
	JID bridge.JID `json:"jid" jsonschema:"the chat's JID, such as 15551234567@s.whatsapp.net or 120363025246125486@g.us"`
}

func (in inChat) chat() bridge.JID { return in.JID }

// paged asks for a part of a list.
type paged struct {
	Limit  whole  `json:"limit,omitempty" jsonschema:"the most entries, by default 20; a page may end earlier, by size" range:"1,50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

func (p paged) limit() int {
	if p.Limit == 0 {
		return usualPage
	}
	return int(p.Limit)
}

type inTime struct {
	Since string `json:"since,omitempty" jsonschema:"RFC 3339 or a date"`
	Until string `json:"until,omitempty" jsonschema:"RFC 3339 or a date"`
}

func (in inTime) span() (from, to *bridge.Time, err error) {
	if from, err = moment("since", in.Since, bridge.ParseSince); err != nil {
		return nil, nil, err
	}
	to, err = moment("until", in.Until, bridge.ParseUntil)
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

// addReads registers the tools that every caller with the scope to read is offered.
func (d door) addReads() {
	addRead(d, "list_chats", "List chats", "Lists chats with their unread count and last message, the latest first. unread: true shows what is unread, unanswered: true where the last word is somebody else's.", (*caller).chats)
	addRead(d, "get_chat", "Get a chat", "Shows one chat and its latest messages.",
		func(c *caller, ctx context.Context, in getChat) (*chatAnswer, error) { return c.chat(ctx, in) })
	addRead(d, "get_group", "Get a group", "Shows a group's topic and members.", (*caller).group)
	addRead(d, "find_contact", "Find a person", "Finds people in the address book, and others that the account has met, by a part of their name, username or number.", (*caller).contacts)
	addRead(d, "list_messages", "List messages", "Lists the messages of one chat, or those with a text or of a type in it.", (*caller).messages)
	addRead(d, "search_messages", "Search messages", "Searches the messages of all chats by text, chat, person or type, newest first, and shows the words around each hit. A page may be empty and still have a nextCursor.", (*caller).search)
	addRead(d, "get_message_context", "Get a message in its context", "Shows one message, with more of its text than lists do, and those before and after it.", (*caller).context)
	addRead(d, "catch_me_up", "Catch me up", "Shows the unread messages of all chats.", (*caller).unread)
	addRead(d, "wait_for_messages", "Wait for messages", "Waits for new messages of other people. Call it again with nextCursor to miss none.", (*caller).wait)
	d.addFiles()
}

type statusAnswer struct {
	Token   tokenShown    `json:"token"`
	Account *accountShown `json:"account"`
}

type tokenShown struct {
	Scopes         []bridge.Scope `json:"scopes"`
	Chats          []bridge.JID   `json:"chats"`
	MoreChats      int            `json:"moreChats,omitempty"`
	ExpiresAt      *bridge.Time   `json:"expiresAt"`
	ToolsThatSend  bool           `json:"toolsThatSend"`
	SendsTo        []bridge.JID   `json:"sendsTo,omitempty"`
	MoreSendsTo    int            `json:"moreSendsTo,omitempty"`
	SendsPerMinute int            `json:"sendsPerMinute,omitempty"`
}

// accountShown says whose account it is, and its state if the token may see that.
type accountShown struct {
	JID       bridge.JID   `json:"jid"`
	Phone     string       `json:"phone,omitempty"`
	Name      string       `json:"name,omitempty"`
	Status    bridge.State `json:"status,omitempty"`
	Since     *bridge.Time `json:"since,omitempty"`
	LastError *string      `json:"lastError,omitempty"`
}

func (a statusAnswer) brief() any {
	short := notes{"scopes": a.Token.Scopes, "sendsTo": a.Token.SendsTo, "chats": a.Token.Chats, "account": "not paired"}
	if a.Account != nil {
		short["account"] = string(a.Account.JID) + " (" + a.Account.Name + ") " + string(a.Account.Status)
	}
	return short
}

// maxNamed bounds the chats of a token that are shown.
const maxNamed = 100

// status returns the rights of the token, and whose account it is.
func (c *caller) status(ctx context.Context, _ nothing) (*statusAnswer, error) {
	shown := &statusAnswer{Token: tokenShown{
		Scopes: c.token.Scopes, ExpiresAt: c.token.ExpiresAt, ToolsThatSend: c.maySend(),
	}}
	shown.Token.Chats, shown.Token.MoreChats = firstNamed(c.token.Chats)
	if c.maySend() {
		shown.Token.SendsTo, shown.Token.MoreSendsTo = firstNamed(c.destinations())
		shown.Token.SendsPerMinute = c.s.options.SendsPerMinute
	}
	if user := c.token.Account; user != nil {
		shown.Account = &accountShown{JID: user.JID, Phone: user.Phone, Name: capped(user.PushName, maxName)}
	}
	status, err := c.client.Status(ctx)
	switch {
	case bridge.CodeOf(err) == bridge.CodeForbidden:
		return shown, nil
	case err != nil:
		return nil, err
	}
	if shown.Account == nil {
		shown.Account = &accountShown{}
	}
	shown.Account.Status, shown.Account.Since, shown.Account.LastError = status.Status, &status.Since, status.LastError
	return shown, nil
}

func firstNamed(chats []bridge.JID) (first []bridge.JID, more int) {
	first = chats[:min(len(chats), maxNamed)]
	return first, len(chats) - len(first)
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
	Q          string `json:"q,omitempty" jsonschema:"a part of the chat's name or JID"`
	Type       string `json:"type,omitempty" enum:"all,group,individual"`
	Unread     *bool  `json:"unread,omitempty" jsonschema:"true: only chats with unread messages"`
	Unanswered *bool  `json:"unanswered,omitempty" jsonschema:"true: only chats whose last message is somebody else's"`
	Archived   *bool  `json:"archived,omitempty" jsonschema:"false leaves archived chats out"`
	paged
}

type chatsAnswer struct {
	facts
	Untrusted struct {
		Chats []shownChat `json:"chats"`
	} `json:"untrusted"`
}

func (a *chatsAnswer) brief() any {
	return a.short(map[string]any{"columns": chatColumns, "chats": rows(a.Untrusted.Chats)})
}

func (c *caller) chats(ctx context.Context, in listChats) (*chatsAnswer, error) {
	return fitting(in.limit(), func(most int) (*chatsAnswer, int, error) {
		page, err := c.client.Chats(ctx, bridge.ChatQuery{
			Type: bridge.ChatType(in.Type), Q: in.Q, Unread: in.Unread, Unanswered: in.Unanswered, Archived: in.Archived, Limit: most, Cursor: in.Cursor,
		})
		shown := &chatsAnswer{facts: facts{NextCursor: page.NextCursor}}
		shown.Untrusted.Chats = each(page.Items, chatOf)
		return shown, len(page.Items), err
	})
}

type findContact struct {
	Q string `json:"q,omitempty" jsonschema:"a part of the person's name, username or number; left out: everybody"`
	paged
}

type peopleAnswer struct {
	facts
	Untrusted struct {
		People []shownPerson `json:"people"`
	} `json:"untrusted"`
}

func (a *peopleAnswer) brief() any {
	return a.short(map[string]any{"columns": personColumns, "people": rows(a.Untrusted.People)})
}

func (c *caller) contacts(ctx context.Context, in findContact) (*peopleAnswer, error) {
	return fitting(in.limit(), func(most int) (*peopleAnswer, int, error) {
		page, err := c.client.Contacts(ctx, bridge.ContactQuery{Q: in.Q, Limit: most, Cursor: in.Cursor})
		shown := &peopleAnswer{facts: facts{NextCursor: page.NextCursor}}
		shown.Untrusted.People = each(page.Items, personOf)
		return shown, len(page.Items), err
	})
}

// checkJID refuses texts that are no JIDs before they reach a path, and so a log.
func checkJID(jid bridge.JID) error {
	if _, err := bridge.ParseJID(string(jid)); err != nil {
		return bridge.Invalid("jid: %v", err)
	}
	return nil
}

type getChat struct {
	inChat
	Limit whole `json:"limit,omitempty" jsonschema:"the most messages, by default 20" range:"1,50"`
}

type chatAnswer struct {
	facts
	Untrusted struct {
		Chat     shownChat      `json:"chat"`
		Messages []shownMessage `json:"messages"`
	} `json:"untrusted"`
}

func (a *chatAnswer) brief() any {
	return a.short(map[string]any{"chat": a.Untrusted.Chat.brief(), "columns": messageColumns, "messages": rows(a.Untrusted.Messages)})
}

// chat returns a chat with its latest messages, the newest first.
func (c *caller) chat(ctx context.Context, in getChat) (*chatAnswer, error) {
	if err := checkJID(in.JID); err != nil {
		return nil, err
	}
	found, err := c.client.Chat(ctx, in.JID)
	if err != nil {
		return nil, err
	}
	return fitting(paged{Limit: in.Limit}.limit(), func(most int) (*chatAnswer, int, error) {
		page, err := c.client.Messages(ctx, bridge.MessageQuery{Chat: found.JID, Limit: most})
		shown := &chatAnswer{facts: facts{found.JID, page.NextCursor}}
		shown.Untrusted.Chat, shown.Untrusted.Messages = chatOf(found), messagesOf(page.Items)
		return shown, len(page.Items), err
	})
}

type getGroup struct {
	inChat
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type groupAnswer struct {
	facts
	MemberCount int `json:"memberCount"`
	Untrusted   struct {
		Name    string        `json:"name"`
		Topic   string        `json:"topic"`
		Members []shownMember `json:"members"`
	} `json:"untrusted"`
}

func (a *groupAnswer) brief() any {
	short := a.short(map[string]any{
		"name": a.Untrusted.Name, "topic": capped(a.Untrusted.Topic, maxQuote), "columns": personColumns, "members": rows(a.Untrusted.Members),
	})
	short["memberCount"] = a.MemberCount
	return short
}

// maxMembers bounds the members on one page.
const maxMembers = 200

// group returns a group with its members, by pages whose cursors count them.
func (c *caller) group(ctx context.Context, in getGroup) (*groupAnswer, error) {
	begin, err := strconv.Atoi(in.Cursor)
	if in.Cursor != "" && (err != nil || begin < 0) {
		return nil, bridge.Invalid("cursor must be the nextCursor of an earlier page")
	}
	found, err := c.client.Group(ctx, in.JID)
	if err != nil {
		return nil, err
	}
	people := found.Stored.Participants
	rest := people[min(begin, len(people)):]
	return fitting(maxMembers, func(most int) (*groupAnswer, int, error) {
		some := rest[:min(most, len(rest))]
		shown := &groupAnswer{facts: facts{ChatJID: found.JID}, MemberCount: len(people)}
		if len(some) < len(rest) {
			shown.NextCursor = new(strconv.Itoa(begin + len(some)))
		}
		shown.Untrusted.Name, shown.Untrusted.Topic = capped(found.Stored.Name, maxName), capped(found.Stored.Topic, maxShort)
		shown.Untrusted.Members = each(some, memberOf)
		return shown, len(some), nil
	})
}

// ofType chooses messages by what they are.
type ofType struct {
	Type string `json:"type,omitempty" jsonschema:"media (any file), image, video, audio, document, sticker, link, or a messageType such as pollCreationMessageV3"`
}

type listMessages struct {
	inChat
	inTime
	Q      string `json:"q,omitempty" jsonschema:"a part of the text"`
	Sender string `json:"sender,omitempty" jsonschema:"the JID of one person, in groups"`
	ofType
	Order string `json:"order,omitempty" jsonschema:"desc (the newest first) by default" enum:"desc,asc"`
	paged
}

type messagesAnswer struct {
	facts
	Untrusted struct {
		Messages []shownMessage `json:"messages"`
	} `json:"untrusted"`
}

func (a *messagesAnswer) brief() any {
	return a.short(map[string]any{"columns": messageColumns, "messages": rows(a.Untrusted.Messages)})
}

func (c *caller) messages(ctx context.Context, in listMessages) (*messagesAnswer, error) {
	since, until, err := in.span()
	if err != nil {
		return nil, err
	}
	return fitting(in.limit(), func(most int) (*messagesAnswer, int, error) {
		page, err := c.client.Messages(ctx, bridge.MessageQuery{
			Chat: in.JID, Since: since, Until: until, Q: in.Q, Sender: bridge.JID(in.Sender), MessageFilter: bridge.MessageFilter{Type: in.Type},
			Order: bridge.Order(in.Order), Limit: most, Cursor: in.Cursor,
		})
		shown := &messagesAnswer{facts: facts{in.JID, page.NextCursor}}
		shown.Untrusted.Messages = messagesOf(page.Items)
		return shown, len(page.Items), err
	})
}

type searchMessages struct {
	Q      string     `json:"q,omitempty" jsonschema:"a part of the text, in any case; may be left out with chat, sender, type or fromMe"`
	Chat   bridge.JID `json:"chat,omitempty" jsonschema:"the JID of the only chat to search"`
	Sender bridge.JID `json:"sender,omitempty" jsonschema:"the JID of one person"`
	ofType
	FromMe *bool `json:"fromMe,omitempty" jsonschema:"true: only the account's own messages; false: only those of others"`
	inTime
	ChatType string `json:"chatType,omitempty" enum:"all,group,individual"`
	paged
}

func (in searchMessages) chat() bridge.JID { return in.Chat }

type matchesAnswer struct {
	facts
	Untrusted struct {
		Matches []shownMatch `json:"matches"`
	} `json:"untrusted"`
}

func (a *matchesAnswer) brief() any {
	return a.short(map[string]any{"columns": messageColumns, "matches": rows(a.Untrusted.Matches)})
}

// shownMatch is a message that was found, with the part of its text around the words.
type shownMatch struct {
	ChatJID     bridge.JID  `json:"chatJid"`
	ChatName    string      `json:"chatName"`
	IsGroup     bool        `json:"isGroup"`
	MsgID       string      `json:"msgId"`
	FromMe      bool        `json:"fromMe"`
	SenderJID   bridge.JID  `json:"senderJid"`
	SenderName  string      `json:"senderName,omitempty"`
	Timestamp   bridge.Time `json:"timestamp"`
	MessageType string      `json:"messageType"`
	Excerpt     string      `json:"excerpt"`
	File        *shownFile  `json:"file,omitempty"`
}

// Characters of an excerpt before and after the words that were found.
const (
	wordsBefore = 100
	wordsAfter  = 200
)

func matchOf(m bridge.Match, words string) shownMatch {
	around := folding.Around(m.Content, words, wordsBefore, wordsAfter)
	shown := shownMatch{
		ChatJID: m.ChatJID, ChatName: capped(m.ChatName, maxName), IsGroup: m.IsGroup, MsgID: capped(m.MsgID, maxName), FromMe: m.FromMe,
		SenderJID: m.SenderJID, SenderName: capped(m.PushName, maxName), Timestamp: m.Timestamp, MessageType: capped(m.MessageType, maxName),
		Excerpt: capped(folding.Plain(around), maxBrief),
	}
	if m.Media != nil {
		shown.File = new(fileOf(*m.Media))
	}
	return shown
}

func (m shownMatch) brief() []any {
	found := shownMessage{
		ChatJID: m.ChatJID, ChatName: m.ChatName, MsgID: m.MsgID, FromMe: m.FromMe, SenderJID: m.SenderJID, SenderName: m.SenderName,
		Timestamp: m.Timestamp, Text: m.Excerpt, File: m.File,
	}
	return found.brief()
}

func (c *caller) search(ctx context.Context, in searchMessages) (*matchesAnswer, error) {
	since, until, err := in.span()
	if err != nil {
		return nil, err
	}
	return fitting(in.limit(), func(most int) (*matchesAnswer, int, error) {
		page, err := c.client.Search(ctx, bridge.SearchQuery{
			Q: in.Q, Chat: in.Chat, Sender: in.Sender, MessageFilter: bridge.MessageFilter{Type: in.Type, FromMe: in.FromMe},
			Since: since, Until: until, ChatType: bridge.ChatType(in.ChatType), Limit: most, Cursor: in.Cursor,
		})
		shown := &matchesAnswer{facts: facts{NextCursor: page.NextCursor}}
		shown.Untrusted.Matches = each(page.Items, func(m bridge.Match) shownMatch { return matchOf(m, in.Q) })
		return shown, len(page.Items), err
	})
}

type messageContext struct {
	inChat
	MsgID  string `json:"msgId" jsonschema:"the message in the middle"`
	Before *whole `json:"before,omitempty" jsonschema:"how many messages before it, by default 5" range:"0,25"`
	After  *whole `json:"after,omitempty" jsonschema:"how many messages after it, by default 5" range:"0,25"`
}

// sameMoment bounds the messages of one second between a message and its neighbours.
const sameMoment = 25

// contextAnswer holds a message with its neighbours, the oldest first.
type contextAnswer struct {
	facts
	MsgID string `json:"msgId"`
	// Fewer reports that not all neighbours fit that were asked for.
	Fewer     bool `json:"fewer,omitempty"`
	Untrusted struct {
		Messages []shownMessage `json:"messages"`
	} `json:"untrusted"`
}

func (a *contextAnswer) brief() any {
	short := a.short(map[string]any{"columns": messageColumns, "messages": rows(a.Untrusted.Messages)})
	if a.Fewer {
		short["fewer"] = true
	}
	return short
}

func (c *caller) context(ctx context.Context, in messageContext) (*contextAnswer, error) {
	middle, err := c.client.Message(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, err
	}
	beside := func(wanted *whole, order bridge.Order, since, until *bridge.Time) ([]bridge.Message, error) {
		count := 5
		if wanted != nil {
			count = int(*wanted)
		}
		if count == 0 {
			return nil, nil
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
	all, long := 1+len(before)+len(after), maxLong
	return fitting(all, func(most int) (*contextAnswer, int, error) {
		// The nearest ones stay, as many on one side as on the other where both have them.
		earlier := min(len(before), max((most-1)/2, most-1-len(after)))
		later := min(len(after), most-1-earlier)
		shown := &contextAnswer{facts: facts{ChatJID: middle.Chat}, MsgID: capped(middle.ID, maxName), Fewer: most < all}
		near := messagesOf(before[:earlier])
		slices.Reverse(near)
		shown.Untrusted.Messages = append(append(near, messageOf(middle, long)), messagesOf(after[:later])...)
		if most == 1 {
			long /= 2 // beside everything else that a message can have
		}
		return shown, 1 + earlier + later, nil
	})
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

type unreadAnswer struct {
	facts
	Untrusted struct {
		Chats []unreadChat `json:"chats"`
	} `json:"untrusted"`
}

// unreadChat is a chat with its unread messages, the oldest first.
type unreadChat struct {
	JID         bridge.JID     `json:"jid"`
	IsGroup     bool           `json:"isGroup"`
	Name        string         `json:"name"`
	UnreadCount int            `json:"unreadCount"`
	Messages    []shownMessage `json:"messages"` // the newest of them
	size        int            // of these, as they are sent
}

func (a *unreadAnswer) brief() any {
	return a.short(map[string]any{"columns": messageColumns, "chats": each(a.Untrusted.Chats, func(c unreadChat) map[string]any {
		return map[string]any{"jid": c.JID, "name": c.Name, "unread": c.UnreadCount, "messages": rows(c.Messages)}
	})})
}

// maxUnread bounds the unread messages that are shown of one chat.
const maxUnread = 20

// unread returns the chats that have unread messages, with these.
func (c *caller) unread(ctx context.Context, in paged) (*unreadAnswer, error) {
	var unread []unreadChat // what was read already
	return fitting(in.limit(), func(most int) (*unreadAnswer, int, error) {
		page, err := c.client.Chats(ctx, bridge.ChatQuery{Unread: new(true), Limit: most, Cursor: in.Cursor})
		if err != nil {
			return nil, 0, err
		}
		shown, size := &unreadAnswer{facts: facts{NextCursor: page.NextCursor}}, 0
		shown.Untrusted.Chats = []unreadChat{}
		for i, one := range page.Items {
			if i == len(unread) || unread[i].JID != one.JID {
				read, err := c.unreadIn(ctx, one)
				if err != nil {
					return nil, 0, err
				}
				unread = append(unread[:i], read)
			}
			shown.Untrusted.Chats = unread[:i+1]
			if size += unread[i].size; size > maxAnswer {
				break // so many do not fit
			}
		}
		return shown, len(shown.Untrusted.Chats), nil
	})
}

// unreadIn returns a chat's newest unread messages, which fit an answer.
func (c *caller) unreadIn(ctx context.Context, one bridge.Chat) (unreadChat, error) {
	shown := unreadChat{JID: one.JID, IsGroup: one.IsGroup, Name: capped(one.Name, maxName), UnreadCount: one.UnreadCount, Messages: []shownMessage{}}
	wanted, looked := min(one.UnreadCount, maxUnread), 0
	if wanted == 0 {
		return shown, nil // only marked as unread
	}
	for m, err := range c.client.AllMessages(ctx, bridge.MessageQuery{Chat: one.JID, Limit: wanted}) {
		if err != nil {
			return shown, err
		}
		if !m.FromMe {
			short := messageOf(m, maxBrief)
			alone := &messagesAnswer{}
			alone.Untrusted.Messages = []shownMessage{short}
			size, err := sizeOf(alone)
			if err != nil {
				return shown, err
			}
			if shown.size+size > maxAnswer*3/4 {
				break
			}
			shown.size += size
			shown.Messages = append(shown.Messages, short)
		}
		if looked++; looked == 4*maxUnread || len(shown.Messages) == wanted {
			break
		}
	}
	slices.Reverse(shown.Messages)
	return shown, nil
}

type waitForMessages struct {
	After   string       `json:"after,omitempty" jsonschema:"nextCursor of an earlier call; left out: from now on"`
	Chats   []bridge.JID `json:"chats,omitempty" jsonschema:"JIDs of the only chats to wait for"`
	Timeout whole        `json:"timeout,omitempty" jsonschema:"seconds to wait, by default 30" range:"1,50"`
}

type waitAnswer struct {
	facts
	MissedSome bool `json:"missedSome"` // since an earlier call, which was too long ago
	Untrusted  struct {
		Messages []shownMessage `json:"messages"`
	} `json:"untrusted"`
}

func (a *waitAnswer) brief() any {
	short := a.short(map[string]any{"columns": messageColumns, "messages": rows(a.Untrusted.Messages)})
	if a.MissedSome {
		short["missedSome"] = true
	}
	return short
}

// wait returns the next messages of other people. It ends well before the minute after
// which the SDKs' clients give a call up.
func (c *caller) wait(ctx context.Context, in waitForMessages) (*waitAnswer, error) {
	if len(in.Chats) > usualPage {
		return nil, bridge.Invalid("chats may name at most %d chats", usualPage)
	}
	for _, jid := range in.Chats {
		if err := checkJID(jid); err != nil {
			return nil, err
		}
		if _, err := c.client.Chat(ctx, jid); err != nil && !c.mayBegin(jid) {
			return nil, err // it would be waited for in vain
		}
	}
	timeout := 30 * time.Second
	if in.Timeout != 0 {
		timeout = time.Duration(in.Timeout) * time.Second
	}
	query := client.EventQuery{After: in.After, Chats: in.Chats, Types: []bridge.EventType{bridge.EventMessageCreated}, FromMe: new(false)}
	if query.After == "" {
		var err error
		if query.After, err = c.client.LastEvent(ctx); err != nil {
			return nil, err
		}
	}
	return fitting(maxPage, func(most int) (*waitAnswer, int, error) {
		page, err := c.client.EventPage(ctx, query, most, timeout)
		shown := &waitAnswer{facts: facts{NextCursor: &page.NextCursor}, MissedSome: page.Reset}
		shown.Untrusted.Messages = []shownMessage{}
		for _, e := range page.Events {
			if e.Message != nil {
				m := messageOf(*e.Message, maxShort)
				m.ChatJID = e.ChatJID
				shown.Untrusted.Messages = append(shown.Untrusted.Messages, m)
			}
		}
		return shown, len(page.Events), err
	})
}
