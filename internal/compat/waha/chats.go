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
	usualMessages = 100    // of a list of messages that asks for no number
	maxItems      = 10_000 // of any list
)

// page is the part of a list that a caller asks for. n8n's limit of 0 is none.
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

// chatOf returns the chat that a path names.
func chatOf(c *compat.Call) (bridge.JID, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return "", err
	}
	return compat.Recipient(c.PathValue("chat"))
}

// targetOf returns the message that a path names.
func targetOf(c *compat.Call) (chat bridge.JID, id string, err error) {
	if chat, err = chatOf(c); err != nil {
		return "", "", err
	}
	named, err := parseMessageID(c.PathValue("message"))
	if err != nil {
		return "", "", err
	}
	return named.in(chat)
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

// overview is a chat with its last message.
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

// listChats returns the route that lists chats, each as show has it.
func listChats[T any](show func(bridge.Chat) T) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		if err := checkSession(sessionOf(c.Request)); err != nil {
			return compat.Answer{}, err
		}
		p, err := pageOf(c, maxItems)
		if err != nil {
			return compat.Answer{}, err
		}
		ids := idsOf(c.URL.Query())
		all := c.API.AllChats(c.Context(), bridge.ChatQuery{Limit: 100})
		return compat.OKList(compat.ItemsBytes, compat.Items(all, p.skip, p.take, func(one bridge.Chat) (any, bool) {
			return show(one), len(ids) == 0 || slices.Contains(ids, compat.AsChat(one.JID))
		}))
	}
}

// idsOf returns the chats that a list is limited to.
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

// messagesQuery returns the messages that a list asks for, and their status if it names one.
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

func listMessages(c *compat.Call) (compat.Answer, error) {
	chat, err := chatOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	return messagesIn(c, chat)
}

// listMessagesByQuery lists the messages of the chat that a query names, as old clients
// ask for them.
func listMessagesByQuery(c *compat.Call) (compat.Answer, error) {
	query := c.URL.Query()
	if err := checkSession(query.Get("session")); err != nil {
		return compat.Answer{}, err
	}
	chat, err := compat.Recipient(query.Get("chatId"))
	if err != nil {
		return compat.Answer{}, err
	}
	return messagesIn(c, chat)
}

func messagesIn(c *compat.Call, chat bridge.JID) (compat.Answer, error) {
	p, err := pageOf(c, usualMessages)
	if err != nil {
		return compat.Answer{}, err
	}
	q, ack, err := messagesQuery(c, chat)
	if err != nil {
		return compat.Answer{}, err
	}
	q.Limit = compat.MessagesPage
	if q.MessageFilter.IsZero() && ack == "" { // else pages may end early, so that the API has no offset
		q.Offset, p.skip = p.skip, 0
	}
	base := c.Base()
	return compat.OKList(compat.MessagesBytes, compat.Items(c.API.AllMessages(c.Context(), q), p.skip, p.take, func(m bridge.Message) (any, bool) {
		m.Chat = chat
		return messageOf(m, base), ack == "" || isAck(m, ack)
	}))
}

func showMessage(c *compat.Call) (compat.Answer, error) {
	chat, id, err := targetOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	m, err := c.API.Message(c.Context(), chat, id)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(messageOf(m, c.Base()))
}

func editMessage(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Text compat.Text `json:"text"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	chat, id, err := targetOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	content := bridge.Message{MessageType: bridge.TypeText, Content: string(in.Text)}
	return answerSent(c, http.StatusOK, &content, func() (client.Sent, error) {
		return c.API.Edit(c.Context(), chat, id, string(in.Text), nil, c.Key())
	})
}

func deleteMessage(c *compat.Call) (compat.Answer, error) {
	chat, id, err := targetOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	sent, err := c.API.Delete(c.Context(), chat, id, c.Key())
	return compat.Answer{Status: http.StatusOK, Body: map[string]any{}, Replay: sent.Replayed}, err
}

func markRead(c *compat.Call) (compat.Answer, error) {
	chat, err := chatOf(c)
	if err == nil {
		err = c.API.MarkRead(c.Context(), chat, "", c.Key())
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]any{"ids": []string{}}}, err
}

// sendSeen reads a chat up to the last message that is named, else to its newest. The
// participant is not looked at: n8n's default is nobody.
func sendSeen(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		MessageID  compat.Text  `json:"messageId"`
		MessageIDs compat.Texts `json:"messageIds"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	chat, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	names := []string(in.MessageIDs)
	if in.MessageID != "" {
		names = append(names, string(in.MessageID))
	}
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names { // reading up to an older one changes nothing
		upTo, in := "", chat
		if name != "" {
			named, err := parseMessageID(name)
			if err != nil {
				return compat.Answer{}, err
			}
			if in, upTo, err = named.in(chat); err != nil {
				return compat.Answer{}, err
			}
		}
		if err := c.API.MarkRead(c.Context(), in, upTo, ""); err != nil {
			return compat.Answer{}, err
		}
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]any{}}, nil
}

// showTyping returns the route that shows the account as typing, or no more.
func showTyping(state bridge.TypingState) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		var in toChat
		if err := c.Decode(&in); err != nil {
			return compat.Answer{}, err
		}
		chat, err := in.recipient()
		if err == nil {
			err = c.API.ShowTyping(c.Context(), chat, state)
		}
		return compat.Answer{Status: http.StatusCreated, Body: map[string]any{"result": true}}, err
	}
}

// download answers the file of a message, whose name is the message's and an ending.
func download(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	name := c.PathValue("file")
	if dot := strings.LastIndexByte(name, '.'); dot > strings.LastIndexByte(name, '_') {
		name = name[:dot]
	}
	named, err := parseMessageID(name)
	if err != nil {
		return compat.Answer{}, err
	}
	chat, id, err := named.in("")
	if err == nil {
		id, err = bridge.ParsePathID(id)
	}
	if err != nil {
		return compat.Answer{}, err
	}
	answer, err := c.API.File(c.Context(), http.MethodGet, chat, id, c.Header)
	return compat.Answer{Relay: answer}, err
}
