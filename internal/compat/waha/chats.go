package waha

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

const (
	usualMessages = 100    // in a list of messages without a limit
	maxItems      = 10_000 // in any list
)

// page is the part of a list that a caller asks for. A limit of 0, which n8n sends, means no limit.
type page struct{ skip, take int }

func pageOf(c *compat.Call, usual int) (p page, err error) {
	for name, at := range map[string]*int{"limit": &p.take, "offset": &p.skip} {
		text := c.URL.Query().Get(name)
		if text == "" {
			continue
		}
		if *at, err = strconv.Atoi(text); err != nil || *at < 0 {
			return p, bridge.Invalid("%s must be a number of at least 0", name)
		}
	}
	if p.take == 0 {
		p.take = usual
	}
	p.take = min(p.take, maxItems)
	return p, nil
}

// ofMessage returns the handler of a route whose path names a message.
func ofMessage(handle func(c *compat.Call, chat bridge.JID, id string) (any, error)) compat.Handler {
	return func(c *compat.Call) (any, error) {
		chat, err := compat.Recipient(c.PathValue("chat"))
		if err != nil {
			return nil, err
		}
		chat, id, err := messageIn(chat, c.PathValue("message"))
		if err != nil {
			return nil, err
		}
		return handle(c, chat, id)
	}
}

// chat is a chat in the list.
type chat struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Timestamp   *int64 `json:"conversationTimestamp"`
	UnreadCount int    `json:"unreadCount"`
	Archived    bool   `json:"archived"`
	Pinned      bool   `json:"pinned"`
}

func showChat(chat_ bridge.Chat) chat {
	shown := chat{ID: compat.AsChat(chat_.JID), Name: chat_.Name, UnreadCount: max(chat_.UnreadCount, 0), Archived: chat_.Archived, Pinned: chat_.Pinned}
	if chat_.LastMessageAt != nil {
		shown.Timestamp = new(chat_.LastMessageAt.Unix())
	}
	return shown
}

// overview is a chat and its last message.
type overview struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Picture     *string  `json:"picture"`
	LastMessage *Message `json:"lastMessage"`
	Chat        chat     `json:"_chat"`
}

func showOverview(chat bridge.Chat) overview {
	shown := overview{ID: compat.AsChat(chat.JID), Name: chat.Name, Chat: showChat(chat)}
	if last := chat.LastMessage; last != nil {
		message := messageOf(bridge.Message{
			Chat: chat.JID, ID: last.ID, FromMe: last.FromMe, SenderJID: last.SenderJID, PushName: last.PushName, MessageType: last.MessageType,
			Content: last.Content, Timestamp: last.Timestamp, Status: last.Status,
		}, "")
		shown.LastMessage = &message
	}
	return shown
}

// listChats returns the handler that lists chats in the form of show.
func listChats[T any](show func(bridge.Chat) T) compat.Handler {
	return func(c *compat.Call) (any, error) {
		p, err := pageOf(c, maxItems)
		ids := idsOf(c.URL.Query())
		all := c.API.AllChats(c.Context(), bridge.ChatQuery{Limit: 100})
		return &compat.List{Bytes: compat.ItemsBytes, Items: compat.Items(all, p.skip, p.take, func(one bridge.Chat) (any, bool) {
			return show(one), len(ids) == 0 || slices.Contains(ids, compat.AsChat(one.JID))
		})}, err
	}
}

// idsOf returns the chats to which a list is limited.
func idsOf(query url.Values) (ids []string) {
	for _, list := range query["ids"] {
		for id := range strings.SplitSeq(list, ",") {
			if jid, err := compat.Recipient(id); err == nil {
				ids = append(ids, compat.AsChat(jid))
			}
		}
	}
	return ids
}

// messagesQuery returns the query of a list of messages, and the status that it asks for.
func messagesQuery(c *compat.Call, chat bridge.JID) (q bridge.MessageQuery, ack string, err error) {
	query := c.URL.Query()
	q = bridge.MessageQuery{Chat: chat, Limit: usualMessages}
	for name, at := range map[string]**bridge.Time{"filter.timestamp.gte": &q.Since, "filter.timestamp.lte": &q.Until} {
		if text := query.Get(name); text != "" {
			seconds, err := strconv.ParseInt(text, 10, 64)
			if err != nil || seconds < 0 {
				return q, "", bridge.Invalid("%s must be seconds since 1970", name)
			}
			*at = new(bridge.At(time.Unix(seconds, 0)))
		}
	}
	if text := query.Get("filter.fromMe"); text != "" {
		fromMe, err := strconv.ParseBool(text)
		if err != nil {
			return q, "", bridge.Invalid("filter.fromMe must be true or false")
		}
		q.FromMe = &fromMe
	}
	if strings.EqualFold(query.Get("sortOrder"), "asc") {
		q.Order = bridge.OrderAsc
	}
	return q, query.Get("filter.ack"), nil
}

func listMessages(c *compat.Call) (any, error) {
	chat, err := compat.Recipient(c.PathValue("chat"))
	if err != nil {
		return nil, err
	}
	return messagesIn(c, chat)
}

// listMessagesByQuery lists the messages of the chat in the query. Old clients use it.
func listMessagesByQuery(c *compat.Call) (any, error) {
	query := c.URL.Query()
	if err := checkSession(query.Get("session")); err != nil {
		return nil, err
	}
	chat, err := compat.Recipient(query.Get("chatId"))
	if err != nil {
		return nil, err
	}
	return messagesIn(c, chat)
}

func messagesIn(c *compat.Call, chat bridge.JID) (any, error) {
	p, err := pageOf(c, usualMessages)
	if err != nil {
		return nil, err
	}
	q, ack, err := messagesQuery(c, chat)
	if err != nil {
		return nil, err
	}
	q.Limit = compat.MessagesPage
	if q.MessageFilter.IsZero() && ack == "" { // the API has no offset for filtered pages, which may end early
		q.Offset, p.skip = p.skip, 0
	}
	base := c.Base()
	return &compat.List{Bytes: compat.MessagesBytes, Items: compat.Items(c.API.AllMessages(c.Context(), q), p.skip, p.take, func(m bridge.Message) (any, bool) {
		m.Chat = chat
		return messageOf(m, base), ack == "" || isAck(m, ack)
	})}, nil
}

func showMessage(c *compat.Call, chat bridge.JID, id string) (any, error) {
	m, err := c.API.Message(c.Context(), chat, id)
	return messageOf(m, c.Base()), err
}

func editMessage(c *compat.Call, chat bridge.JID, id string) (any, error) {
	var in struct {
		Text compat.Text `json:"text"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	m := bridge.Message{MessageType: bridge.TypeText, Content: string(in.Text)}
	err := c.Deliver(&m, func() (client.Sent, error) { return c.API.Edit(c.Context(), chat, id, string(in.Text), nil, c.Key()) })
	return sentMessage(c, m), err
}

func deleteMessage(c *compat.Call, chat bridge.JID, id string) (any, error) {
	sent, err := c.API.Delete(c.Context(), chat, id, c.Key())
	c.Replayed = sent.Replayed
	return map[string]any{}, err
}

// pinTimes lists how long the network pins a message, by seconds.
var pinTimes = map[int64]string{86400: "24h", 604800: "7d", 2592000: "30d"}

// pinMessage pins a message for its duration in seconds, by default for a day.
func pinMessage(c *compat.Call, chat bridge.JID, id string) (any, error) {
	in := struct {
		Duration int64 `json:"duration"`
	}{86400}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	duration, known := pinTimes[in.Duration]
	if !known {
		return nil, bridge.Invalid("duration must be 86400, 604800 or 2592000 seconds: a message is pinned for a day, a week or 30 days")
	}
	sent, err := c.API.Pin(c.Context(), chat, id, duration, c.Key())
	c.Replayed = sent.Replayed
	return map[string]bool{"success": true}, err
}

func unpinMessage(c *compat.Call, chat bridge.JID, id string) (any, error) {
	sent, err := c.API.Unpin(c.Context(), chat, id, c.Key())
	c.Replayed = sent.Replayed
	return map[string]bool{"success": true}, err
}

func markRead(c *compat.Call) (any, error) {
	chat, err := compat.Recipient(c.PathValue("chat"))
	if err == nil {
		err = c.API.MarkRead(c.Context(), chat, "", c.Key())
	}
	return map[string]any{"ids": []string{}}, err
}

// sendSeenBody is the body of [sendSeen].
type sendSeenBody struct {
	sendBase
	MessageID  compat.Text  `json:"messageId"`
	MessageIDs compat.Texts `json:"messageIds"`
}

// sendSeen marks a chat as read up to the last named message, or to its newest one. It ignores the participant,
// which n8n sends empty.
func sendSeen(c *compat.Call, in sendSeenBody) (any, error) {
	chat, err := in.recipient()
	if err != nil {
		return nil, err
	}
	names := []string(in.MessageIDs)
	if in.MessageID != "" {
		names = append(names, string(in.MessageID))
	}
	if len(names) == 0 {
		return map[string]any{}, c.API.MarkRead(c.Context(), chat, "", "")
	}
	for _, name := range names { // reading up to an older message changes nothing
		chat, id, err := messageIn(chat, name)
		if err == nil {
			err = c.API.MarkRead(c.Context(), chat, id, "")
		}
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{}, nil
}

// showTyping returns the handler that shows the account as typing, or no longer.
func showTyping(state bridge.TypingState) compat.Handler {
	return compat.Reading(func(c *compat.Call, in sendBase) (any, error) {
		chat, err := in.recipient()
		if err == nil {
			err = c.API.ShowTyping(c.Context(), chat, state)
		}
		return map[string]any{"result": true}, err
	})
}

// download returns the file of a message. Its name is the message's id with an extension.
func download(c *compat.Call) (any, error) {
	name := c.PathValue("file")
	if dot := strings.LastIndexByte(name, '.'); dot > strings.LastIndexByte(name, '_') {
		name = name[:dot]
	}
	chat, id, err := messageIn("", name)
	if err == nil {
		id, err = bridge.ParsePathID(id)
	}
	if err != nil {
		return nil, err
	}
	return c.API.File(c.Context(), http.MethodGet, chat, id, c.Header)
}
