package mcp

import (
	"context"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/folding"
)

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

func (a *messagesAnswer) brief() any { return a.table() }

// table returns the short form of a list of messages.
func (a *messagesAnswer) table() map[string]any {
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
	Fold   string     `json:"fold,omitempty" jsonschema:"accents: letters with and without accents are the same" enum:"accents"`
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

func matchOf(m bridge.Match, words string, by bridge.Fold) shownMatch {
	around := folding.Around(m.Words(), words, by, wordsBefore, wordsAfter)
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
			Q: in.Q, Fold: bridge.Fold(in.Fold), Chat: in.Chat, Sender: in.Sender, MessageFilter: bridge.MessageFilter{Type: in.Type, FromMe: in.FromMe},
			Since: since, Until: until, ChatType: bridge.ChatType(in.ChatType), Limit: most, Cursor: in.Cursor,
		})
		shown := &matchesAnswer{facts: facts{NextCursor: page.NextCursor}}
		shown.Untrusted.Matches = each(page.Items, func(m bridge.Match) shownMatch { return matchOf(m, in.Q, bridge.Fold(in.Fold)) })
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
	messagesAnswer
	MsgID string `json:"msgId"`
	// Fewer reports that not all neighbours fit that were asked for.
	Fewer bool `json:"fewer,omitempty"`
}

func (a *contextAnswer) brief() any {
	short := a.table()
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
		shown := &contextAnswer{messagesAnswer: messagesAnswer{facts: facts{ChatJID: middle.Chat}}, MsgID: capped(middle.ID, maxName), Fewer: most < all}
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
	messagesAnswer
	MissedSome bool `json:"missedSome"` // since an earlier call, which was too long ago
}

func (a *waitAnswer) brief() any {
	short := a.table()
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
		shown := &waitAnswer{messagesAnswer: messagesAnswer{facts: facts{NextCursor: &page.NextCursor}}, MissedSome: page.Reset}
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
