package mcp

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"bridged/internal/bridge"
)

// inChat names a chat to read.
type inChat struct {
	JID bridge.JID `json:"jid" jsonschema:"the chat's JID, such as 15551234567@s.whatsapp.net or 120363025246125486@g.us"`
}

func (in inChat) chat() bridge.JID { return in.JID }

// paged selects a page of a list.
type paged struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"the most entries, by default 20; a page may end earlier, by size" range:"1,50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

func (p paged) limit() int {
	if p.Limit == 0 {
		return defaultPage
	}
	return p.Limit
}

type inSpan struct {
	Since string `json:"since,omitempty" jsonschema:"RFC 3339 or a date"`
	Until string `json:"until,omitempty" jsonschema:"RFC 3339 or a date"`
}

func (in inSpan) span() (from, to *bridge.Time, err error) {
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

// addReads registers the tools for callers with the scope to read.
func (r registry) addReads() {
	addRead(r, "list_chats", "List chats", "Lists chats with their unread count and last message, the latest first. unread: true shows what is unread, unanswered: true where the last word is somebody else's.", (*caller).chats)
	addRead(r, "get_chat", "Get a chat", "Shows one chat and its latest messages.",
		func(c *caller, ctx context.Context, in getChat) (*chatAnswer, error) { return c.chat(ctx, in) })
	addRead(r, "get_group", "Get a group", "Shows a group's topic and members.", (*caller).group)
	addRead(r, "find_contact", "Find a person", "Finds people in the address book, and others that the account has met, by a part of their name, username or number.", (*caller).contacts)
	addRead(r, "list_messages", "List messages", "Lists the messages of one chat, or those with a text or of a type in it.", (*caller).messages)
	addRead(r, "search_messages", "Search messages", "Searches the messages of all chats by text, chat, person or type, newest first, and shows the words around each hit. A page may be empty and still have a nextCursor.", (*caller).search)
	addRead(r, "get_message_context", "Get a message in its context", "Shows one message, with more of its text than lists do, and those before and after it.", (*caller).context)
	addRead(r, "list_scheduled", "List scheduled messages", "Lists the account's messages that are sent later, the next one first, and those that could not be sent at their time.", (*caller).scheduled)
	addRead(r, "catch_me_up", "Catch me up", "Shows the unread messages of all chats.", (*caller).unread)
	add(r, "wait_for_messages", "Wait for messages", "Waits for new messages of other people. Call it again with nextCursor to miss none.", false, call.wait)
	r.addFiles()
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
	Security  *string      `json:"securityNotice,omitempty"`
}

func (a statusAnswer) compact() any {
	short := notes{"scopes": a.Token.Scopes, "sendsTo": a.Token.SendsTo, "chats": a.Token.Chats, "account": "not paired"}
	if a.Account != nil {
		short["account"] = string(a.Account.JID) + " (" + a.Account.Name + ") " + string(a.Account.Status)
	}
	if a.Token.MoreChats > 0 {
		short["moreChats"] = a.Token.MoreChats
	}
	if a.Token.MoreSendsTo > 0 {
		short["moreSendsTo"] = a.Token.MoreSendsTo
	}
	return short
}

// maxNamed limits the chats of a token in an answer.
const maxNamed = 100

// getStatus has an argument because OpenAI refuses a tool without properties, and Gemini a tool whose
// properties are empty.
type getStatus struct {
	Limit int `json:"limit,omitempty" jsonschema:"the most chats of the token to name, by default 100" range:"1,100"`
}

func (getStatus) ignoresOthers() {}

// status returns the rights of the token and the account's owner and state.
func (c *caller) status(ctx context.Context, in getStatus) (*statusAnswer, error) {
	most := cmp.Or(in.Limit, maxNamed)
	shown := &statusAnswer{Token: tokenShown{
		Scopes: c.token.Scopes, ExpiresAt: c.token.ExpiresAt, ToolsThatSend: c.maySend(),
	}}
	shown.Token.Chats, shown.Token.MoreChats = firstNamed(c.token.Chats, most)
	if c.maySend() {
		shown.Token.SendsTo, shown.Token.MoreSendsTo = firstNamed(c.destinations(), most)
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
	if notice := status.SecurityNotice; notice != nil {
		shown.Account.Security = &notice.Message
	}
	return shown, nil
}

func firstNamed(chats []bridge.JID, most int) (first []bridge.JID, more int) {
	first = chats[:min(len(chats), most)]
	return first, len(chats) - len(first)
}

// destinations returns the chats that the caller may send to. If both the token and the operator
// name chats, it returns the chats that both name.
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
	Label      string `json:"label,omitempty" jsonschema:"only chats with this label: its name or id"`
	paged
}

type chatsAnswer struct {
	trusted
	Untrusted struct {
		Chats []chatView `json:"chats"`
	} `json:"untrusted"`
}

func (a *chatsAnswer) compact() any {
	return a.with(map[string]any{"columns": chatColumns, "chats": compactRows(a.Untrusted.Chats)})
}

func (c *caller) chats(ctx context.Context, in listChats) (*chatsAnswer, error) {
	labels := accountLabels{caller: c}
	label, err := labels.find(ctx, in.Label)
	if err != nil {
		return nil, err
	}
	return fitting(in.limit(), func(most int) (*chatsAnswer, int, error) {
		page, err := c.client.Chats(ctx, bridge.ChatQuery{
			Type: bridge.ChatType(in.Type), Q: in.Q, Unread: in.Unread, Unanswered: in.Unanswered, Archived: in.Archived, Label: label, Limit: most, Cursor: in.Cursor,
		})
		if err != nil {
			return nil, 0, err
		}
		shown := &chatsAnswer{trusted: trusted{NextCursor: page.NextCursor}}
		shown.Untrusted.Chats = each(page.Items, chatOf)
		for i, chat := range page.Items {
			if shown.Untrusted.Chats[i].Labels, err = labels.names(ctx, chat.Labels); err != nil {
				return nil, 0, err
			}
		}
		return shown, len(page.Items), nil
	})
}

type findContact struct {
	Q       string `json:"q,omitempty" jsonschema:"a part of the person's name, username or number; left out: everybody"`
	Saved   *bool  `json:"saved,omitempty" jsonschema:"true: only people in the address book; false: only others"`
	Blocked *bool  `json:"blocked,omitempty" jsonschema:"true: only people whom the account blocks; false: only others"`
	Profile bool   `json:"profile,omitempty" jsonschema:"true: if one person is found, also their about text and what a business shows"`
	paged
}

type peopleAnswer struct {
	trusted
	Untrusted struct {
		People  []personView `json:"people"`
		Profile *profileView `json:"profile,omitempty"`
	} `json:"untrusted"`
}

func (a *peopleAnswer) compact() any {
	short := map[string]any{"columns": personColumns, "people": compactRows(a.Untrusted.People)}
	if a.Untrusted.Profile != nil {
		short["profile"] = a.Untrusted.Profile
	}
	return a.with(short)
}

func (c *caller) contacts(ctx context.Context, in findContact) (*peopleAnswer, error) {
	return fitting(in.limit(), func(most int) (*peopleAnswer, int, error) {
		page, err := c.client.Contacts(ctx, bridge.ContactQuery{Q: in.Q, Saved: in.Saved, Blocked: in.Blocked, Limit: most, Cursor: in.Cursor})
		shown := &peopleAnswer{trusted: trusted{NextCursor: page.NextCursor}}
		shown.Untrusted.People = each(page.Items, personOf)
		if err == nil && in.Profile && len(page.Items) == 1 {
			var profile bridge.Profile
			profile, err = c.client.Profile(ctx, page.Items[0].JID)
			shown.Untrusted.Profile = profileOf(profile)
		}
		return shown, len(page.Items), err
	})
}

// checkJID refuses texts that are not JIDs before they are used in a path, which is logged.
func checkJID(jid bridge.JID) error {
	if _, err := bridge.ParseJID(string(jid)); err != nil {
		return bridge.Invalid("jid: %v", err)
	}
	return nil
}

type getChat struct {
	inChat
	Limit int `json:"limit,omitempty" jsonschema:"the most messages, by default 20" range:"1,50"`
}

type chatAnswer struct {
	trusted
	Untrusted struct {
		Chat     chatView      `json:"chat"`
		Messages []messageView `json:"messages"`
	} `json:"untrusted"`
}

func (a *chatAnswer) compact() any {
	return a.with(map[string]any{"chat": a.Untrusted.Chat.compact(), "columns": messageColumns, "messages": compactRows(a.Untrusted.Messages)})
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
	labels := accountLabels{caller: c}
	names, err := labels.names(ctx, found.Labels)
	if err != nil {
		return nil, err
	}
	return fitting(paged{Limit: in.Limit}.limit(), func(most int) (*chatAnswer, int, error) {
		page, err := c.client.Messages(ctx, bridge.MessageQuery{Chat: found.JID, Limit: most})
		shown := &chatAnswer{trusted: trusted{found.JID, page.NextCursor}}
		shown.Untrusted.Chat, shown.Untrusted.Messages = chatOf(found), messagesOf(page.Items)
		shown.Untrusted.Chat.Labels = names
		return shown, len(page.Items), err
	})
}

type getGroup struct {
	inChat
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type groupAnswer struct {
	trusted
	MemberCount int `json:"memberCount"`
	Untrusted   struct {
		Name    string       `json:"name"`
		Topic   string       `json:"topic"`
		Members []memberView `json:"members"`
	} `json:"untrusted"`
}

func (a *groupAnswer) compact() any {
	short := a.with(map[string]any{
		"name": a.Untrusted.Name, "topic": capped(a.Untrusted.Topic, maxQuote), "columns": personColumns, "members": compactRows(a.Untrusted.Members),
	})
	short["memberCount"] = a.MemberCount
	return short
}

// maxMembers limits the members on one page.
const maxMembers = 200

// group returns a page of a group's members. Its cursor is the number of members before it.
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
		shown := &groupAnswer{trusted: trusted{ChatJID: found.JID}, MemberCount: len(people)}
		if len(some) < len(rest) {
			shown.NextCursor = new(strconv.Itoa(begin + len(some)))
		}
		shown.Untrusted.Name, shown.Untrusted.Topic = capped(found.Stored.Name, maxName), capped(found.Stored.Topic, maxShort)
		shown.Untrusted.Members = each(some, memberOf)
		return shown, len(some), nil
	})
}

// ofType selects messages by their type.
type ofType struct {
	Type string `json:"type,omitempty" jsonschema:"media (any file), image, video, audio, document, sticker, link, or a messageType such as pollCreationMessageV3"`
}
