package mcp

import (
	"context"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/folding"
)

type listMessages struct {
	inChat
	inSpan
	Q      string `json:"q,omitempty" jsonschema:"a part of the text"`
	Sender string `json:"sender,omitempty" jsonschema:"the JID of one person"`
	ofType
	Pinned  *bool  `json:"pinned,omitempty" jsonschema:"true: only pinned messages"`
	Starred *bool  `json:"starred,omitempty" jsonschema:"true: only messages that the account has starred"`
	Order   string `json:"order,omitempty" jsonschema:"desc (the newest first) by default" enum:"desc,asc"`
	paged
}

type messagesAnswer struct {
	trusted
	Untrusted struct {
		Messages []messageView `json:"messages"`
	} `json:"untrusted"`
}

func (a *messagesAnswer) compact() any { return a.table() }

// table returns the compact form of a list of messages.
func (a *messagesAnswer) table() map[string]any {
	return a.with(map[string]any{"columns": messageColumns, "messages": compactRows(a.Untrusted.Messages)})
}

func (c *caller) messages(ctx context.Context, in listMessages) (*messagesAnswer, error) {
	since, until, err := in.span()
	if err != nil {
		return nil, err
	}
	return fitting(in.limit(), func(most int) (*messagesAnswer, int, error) {
		page, err := c.client.Messages(ctx, bridge.MessageQuery{
			Chat: in.JID, Since: since, Until: until, Q: in.Q, Sender: bridge.JID(in.Sender), MessageFilter: bridge.MessageFilter{Type: in.Type, Pinned: in.Pinned, Starred: in.Starred},
			Order: bridge.Order(in.Order), Limit: most, Cursor: in.Cursor,
		})
		shown := &messagesAnswer{trusted: trusted{in.JID, page.NextCursor}}
		shown.Untrusted.Messages = messagesOf(page.Items)
		return shown, len(page.Items), err
	})
}

type searchMessages struct {
	Q      string     `json:"q,omitempty" jsonschema:"a part of the text, in any case; may be left out with chat, sender, type, fromMe or starred"`
	Fold   string     `json:"fold,omitempty" jsonschema:"accents: letters with and without accents are the same" enum:"accents"`
	Chat   bridge.JID `json:"chat,omitempty" jsonschema:"the JID of the only chat to search"`
	Sender bridge.JID `json:"sender,omitempty" jsonschema:"the JID of one person"`
	ofType
	FromMe  *bool `json:"fromMe,omitempty" jsonschema:"true: only the account's own messages; false: only those of others"`
	Starred *bool `json:"starred,omitempty" jsonschema:"true: only messages that the account has starred"`
	inSpan
	ChatType string `json:"chatType,omitempty" enum:"all,group,individual"`
	paged
}

func (in searchMessages) chat() bridge.JID { return in.Chat }

type matchesAnswer struct {
	trusted
	Untrusted struct {
		Matches []matchView `json:"matches"`
	} `json:"untrusted"`
}

func (a *matchesAnswer) compact() any {
	return a.with(map[string]any{"columns": messageColumns, "matches": compactRows(a.Untrusted.Matches)})
}

// matchView is a message that a search found, with an excerpt of its text.
type matchView struct {
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
	File        *fileView   `json:"file,omitempty"`
}

// Characters of an excerpt before and after the words that were found.
const (
	wordsBefore = 100
	wordsAfter  = 200
)

func matchOf(m bridge.Match, words string, by bridge.Fold) matchView {
	around := folding.Around(m.Words(), words, by, wordsBefore, wordsAfter)
	shown := matchView{
		ChatJID: m.ChatJID, ChatName: capped(m.ChatName, maxName), IsGroup: m.IsGroup, MsgID: capped(m.MsgID, maxName), FromMe: m.FromMe,
		SenderJID: m.SenderJID, SenderName: capped(m.PushName, maxName), Timestamp: m.Timestamp, MessageType: capped(m.MessageType, maxName),
		Excerpt: capped(folding.Plain(around), maxExcerpt),
	}
	if m.Media != nil {
		shown.File = new(fileOf(*m.Media))
	}
	return shown
}

func (m matchView) compact() []any {
	found := messageView{
		ChatJID: m.ChatJID, ChatName: m.ChatName, MsgID: m.MsgID, FromMe: m.FromMe, SenderJID: m.SenderJID, SenderName: m.SenderName,
		Timestamp: m.Timestamp, Text: m.Excerpt, File: m.File,
	}
	return found.compact()
}

func (c *caller) search(ctx context.Context, in searchMessages) (*matchesAnswer, error) {
	since, until, err := in.span()
	if err != nil {
		return nil, err
	}
	return fitting(in.limit(), func(most int) (*matchesAnswer, int, error) {
		page, err := c.client.Search(ctx, bridge.SearchQuery{
			Q: in.Q, Fold: bridge.Fold(in.Fold), Chat: in.Chat, Sender: in.Sender, MessageFilter: bridge.MessageFilter{Type: in.Type, FromMe: in.FromMe, Starred: in.Starred},
			Since: since, Until: until, ChatType: bridge.ChatType(in.ChatType), Limit: most, Cursor: in.Cursor,
		})
		shown := &matchesAnswer{trusted: trusted{NextCursor: page.NextCursor}}
		shown.Untrusted.Matches = each(page.Items, func(m bridge.Match) matchView { return matchOf(m, in.Q, bridge.Fold(in.Fold)) })
		return shown, len(page.Items), err
	})
}

type messageContext struct {
	inChat
	MsgID  string `json:"msgId" jsonschema:"the message in the middle"`
	Before *int   `json:"before,omitempty" jsonschema:"how many messages before it, by default 5" range:"0,25"`
	After  *int   `json:"after,omitempty" jsonschema:"how many messages after it, by default 5" range:"0,25"`
}

// sameMoment limits the messages of the same second that are read between a message and its
// neighbours.
const sameMoment = 25

// contextAnswer has a message and its neighbours, the oldest first.
type contextAnswer struct {
	messagesAnswer
	MsgID string `json:"msgId"`
	Fewer bool   `json:"fewer,omitempty"` // whether some neighbours did not fit
}

func (a *contextAnswer) compact() any {
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
	neighbours := func(wanted *int, order bridge.Order, since, until *bridge.Time) ([]bridge.Message, error) {
		count := 5
		if wanted != nil {
			count = *wanted
		}
		if count == 0 {
			return nil, nil
		}
		return c.following(ctx, middle.ID, count, bridge.MessageQuery{Chat: middle.Chat, Since: since, Until: until, Order: order, Limit: count + 1 + sameMoment})
	}
	before, err := neighbours(in.Before, bridge.OrderDesc, nil, &middle.Timestamp)
	if err != nil {
		return nil, err
	}
	after, err := neighbours(in.After, bridge.OrderAsc, &middle.Timestamp, nil)
	if err != nil {
		return nil, err
	}
	all, long := 1+len(before)+len(after), maxLong
	return fitting(all, func(most int) (*contextAnswer, int, error) {
		// Leave out the most distant neighbours, as many on one side as on the other if possible.
		earlier := min(len(before), max((most-1)/2, most-1-len(after)))
		later := min(len(after), most-1-earlier)
		shown := &contextAnswer{messagesAnswer: messagesAnswer{trusted: trusted{ChatJID: middle.Chat}}, MsgID: capped(middle.ID, maxName), Fewer: most < all}
		near := messagesOf(before[:earlier])
		slices.Reverse(near)
		shown.Untrusted.Messages = append(append(near, messageOf(middle, long)), messagesOf(after[:later])...)
		if most == 1 {
			long /= 2 // the rest of the message needs space, too
		}
		return shown, 1 + earlier + later, nil
	})
}

// following returns up to count messages that follow the one with id in the history that q selects.
// It reads at most q.Limit messages, over several pages if they are long.
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
	trusted
	Untrusted struct {
		Chats []unreadChat `json:"chats"`
	} `json:"untrusted"`
}

// unreadChat is a chat with its unread messages, the oldest first.
type unreadChat struct {
	JID         bridge.JID    `json:"jid"`
	IsGroup     bool          `json:"isGroup"`
	Name        string        `json:"name"`
	UnreadCount int           `json:"unreadCount"`
	Messages    []messageView `json:"messages"` // the newest of them
	size        int           // of the messages, in characters of the result
}

func (a *unreadAnswer) compact() any {
	return a.with(map[string]any{"columns": messageColumns, "chats": each(a.Untrusted.Chats, func(c unreadChat) map[string]any {
		return map[string]any{"jid": c.JID, "name": c.Name, "unread": c.UnreadCount, "messages": compactRows(c.Messages)}
	})})
}

// maxUnread limits the unread messages of one chat in an answer.
const maxUnread = 20

// unread returns the chats with unread messages, and these messages.
func (c *caller) unread(ctx context.Context, in paged) (*unreadAnswer, error) {
	var unread []unreadChat // chats that were read already
	return fitting(in.limit(), func(most int) (*unreadAnswer, int, error) {
		page, err := c.client.Chats(ctx, bridge.ChatQuery{Unread: new(true), Limit: most, Cursor: in.Cursor})
		if err != nil {
			return nil, 0, err
		}
		shown, size := &unreadAnswer{trusted: trusted{NextCursor: page.NextCursor}}, 0
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
				break // the rest does not fit
			}
		}
		return shown, len(shown.Untrusted.Chats), nil
	})
}

// unreadIn returns a chat with its newest unread messages, as many as fit in an answer.
func (c *caller) unreadIn(ctx context.Context, one bridge.Chat) (unreadChat, error) {
	shown := unreadChat{JID: one.JID, IsGroup: one.IsGroup, Name: capped(one.Name, maxName), UnreadCount: one.UnreadCount, Messages: []messageView{}}
	wanted, looked := min(one.UnreadCount, maxUnread), 0
	if wanted == 0 {
		return shown, nil // the chat is only marked as unread
	}
	for m, err := range c.client.AllMessages(ctx, bridge.MessageQuery{Chat: one.JID, Limit: wanted}) {
		if err != nil {
			return shown, err
		}
		if !m.FromMe {
			short := messageOf(m, maxExcerpt)
			alone := &messagesAnswer{}
			alone.Untrusted.Messages = []messageView{short}
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
	Timeout int          `json:"timeout,omitempty" jsonschema:"seconds to wait, by default 30" range:"1,50"`
}

type waitAnswer struct {
	messagesAnswer
	MissedSome bool `json:"missedSome"` // because the earlier call was too long ago
}

func (a *waitAnswer) compact() any {
	short := a.table()
	if a.MissedSome {
		short["missedSome"] = true
	}
	return short
}

// wait returns the next messages of other people. It ends well within a minute, after which the
// SDKs' clients cancel a call.
func (c call) wait(ctx context.Context, in waitForMessages) (*sdk.ImageContent, *waitAnswer, error) {
	shown, err := c.nextMessages(ctx, in)
	if err == nil {
		err = memoryOf(c.req.Extra).Reserve(ctx, textBytes) // only now, because waiting takes no memory
	}
	return nil, shown, err
}

func (c *caller) nextMessages(ctx context.Context, in waitForMessages) (*waitAnswer, error) {
	if len(in.Chats) > defaultPage {
		return nil, bridge.Invalid("chats may name at most %d chats", defaultPage)
	}
	for _, jid := range in.Chats {
		if err := checkJID(jid); err != nil {
			return nil, err
		}
		if _, err := c.client.Chat(ctx, jid); err != nil && !c.mayStart(jid) {
			return nil, err // no message could arrive
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
		shown := &waitAnswer{messagesAnswer: messagesAnswer{trusted: trusted{NextCursor: &page.NextCursor}}, MissedSome: page.Reset}
		shown.Untrusted.Messages = []messageView{}
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
