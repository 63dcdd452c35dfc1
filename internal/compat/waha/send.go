package waha

import (
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// toChat has what all sends have.
type toChat struct {
	Session  string      `json:"session"`
	ChatID   compat.Text `json:"chatId"`
	ReplyTo  string      `json:"reply_to"`
	Mentions []string    `json:"mentions"`
	ID       string      `json:"id"` // chosen by the caller: the send can be repeated
}

// sentMessage is a message as WAHA answers a send.
type sentMessage struct {
	ID          string  `json:"id"`
	Timestamp   int64   `json:"timestamp"`
	From        string  `json:"from"`
	FromMe      bool    `json:"fromMe"`
	Source      string  `json:"source"`
	To          *string `json:"to"`
	Participant *string `json:"participant"`
	Body        string  `json:"body"`
	HasMedia    bool    `json:"hasMedia"`
	Media       any     `json:"media"`
	Ack         int     `json:"ack"`
	AckName     string  `json:"ackName"`
	VCards      []any   `json:"vCards"`
	Location    any     `json:"location"`
	ReplyTo     any     `json:"replyTo"`
	Data        data    `json:"_data"`
}

// data has what clients read of the engine's own message.
type data struct {
	Info    info           `json:"Info"`
	Message map[string]any `json:"Message"`
}

type info struct {
	ID        string     `json:"ID"`
	Chat      bridge.JID `json:"Chat"`
	Sender    bridge.JID `json:"Sender"`
	SenderAlt string     `json:"SenderAlt"`
	IsFromMe  bool       `json:"IsFromMe"`
	IsGroup   bool       `json:"IsGroup"`
	PushName  string     `json:"PushName"`
	Timestamp string     `json:"Timestamp"`
	Type      string     `json:"Type"`
	MediaType string     `json:"MediaType"`
}

// recipient returns the chat of a send.
func (to toChat) recipient() (bridge.JID, error) {
	if err := checkSession(to.Session); err != nil {
		return "", err
	}
	if to.ChatID == "" {
		return "", bridge.Invalid("chatId is missing: a phone number, or a chat such as 15551234567@c.us")
	}
	return compat.Recipient(string(to.ChatID))
}

// quote returns the message that a send answers. n8n sends an empty one for none.
func (to toChat) quote(chat bridge.JID) (client.Quote, error) {
	if to.ReplyTo == "" {
		return client.Quote{}, nil
	}
	named, err := parseMessageID(to.ReplyTo)
	if err != nil {
		return client.Quote{}, err
	}
	of, id, err := named.in(chat)
	return client.Quote{QuotedChatJID: of, QuotedMsgID: id}, err
}

// mentioned returns the people whom a send mentions.
func (to toChat) mentioned() (people []bridge.JID, err error) {
	for _, one := range to.Mentions {
		if one == "all" {
			return nil, bridge.Invalid("bridged does not mention everybody: name the members in mentions")
		}
		jid, err := compat.Recipient(one)
		if err != nil {
			return nil, err
		}
		people = append(people, jid)
	}
	return people, nil
}

// send sends a message and answers it as WAHA does.
func (to toChat) send(c *compat.Call, status int, body string, m client.Message) (compat.Answer, error) {
	key := c.Key()
	if key == "" {
		key = to.ID
	}
	sent, err := c.API.Send(c.Context(), m, key)
	if err != nil {
		return compat.Answer{}, err
	}
	own, err := c.API.OwnToken(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.Answer{Status: status, Body: sentOf(sent, own.Account, body), Replay: sent.Replayed}, nil
}

func sentOf(sent client.Sent, account *bridge.User, body string) sentMessage {
	m := sentMessage{
		Timestamp: sent.Timestamp.Unix(), From: compat.AsChat(sent.Chat), FromMe: true, Source: "api", Body: body, AckName: "PENDING", VCards: []any{},
		Data: data{Info: info{ID: sent.ID, Chat: sent.Chat, IsFromMe: true, IsGroup: sent.Chat.IsGroup(), Timestamp: sent.Timestamp.UTC().Format("2006-01-02T15:04:05Z"), Type: "text"}, Message: map[string]any{"conversation": body}},
	}
	id := messageID{FromMe: true, Chat: sent.Chat, ID: sent.ID}
	if account != nil {
		m.Data.Info.Sender, m.Data.Info.PushName = account.JID, account.PushName
		if sent.Chat.IsGroup() {
			id.Sender = account.JID
			m.Participant = new(compat.AsChat(account.JID))
		}
	}
	m.ID = id.String()
	return m
}

func sendText(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		Text compat.Text `json:"text"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	return in.text(c, http.StatusCreated, string(in.Text))
}

// sendTextByAddress sends what an address says, as old scripts have it.
func sendTextByAddress(c *compat.Call) (compat.Answer, error) {
	query := c.URL.Query()
	to := toChat{Session: query.Get("session"), ChatID: compat.Text(query.Get("phone"))}
	return to.text(c, http.StatusOK, query.Get("text"))
}

func (to toChat) text(c *compat.Call, status int, text string) (compat.Answer, error) {
	chat, err := to.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	m := client.Text{To: chat, Text: text}
	if m.Quote, err = to.quote(chat); err != nil {
		return compat.Answer{}, err
	}
	if m.Mentions, err = to.mentioned(); err != nil {
		return compat.Answer{}, err
	}
	return to.send(c, status, text, m)
}
