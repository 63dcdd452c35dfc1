package evolution

import (
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// toNumber has what all sends have. The first version of the API had these below
// options.
type toNumber struct {
	Number  compat.Text `json:"number"`
	Options *options    `json:"options"`
	options
}

type options struct {
	Delay            int         `json:"delay"` // milliseconds of typing before
	Quoted           *quoted     `json:"quoted"`
	MentionsEveryone bool        `json:"mentionsEveryOne"`
	Mentioned        []string    `json:"mentioned"`
	Presence         compat.Text `json:"presence"`
}

type quoted struct {
	Key struct {
		ID        string `json:"id"`
		RemoteJID string `json:"remoteJid"`
	} `json:"key"`
}

// sentMessage is a message as Evolution answers a send.
type sentMessage struct {
	Key              key            `json:"key"`
	PushName         string         `json:"pushName"`
	Status           string         `json:"status"`
	Message          map[string]any `json:"message"`
	ContextInfo      any            `json:"contextInfo"`
	MessageType      string         `json:"messageType"`
	MessageTimestamp int64          `json:"messageTimestamp"`
	InstanceID       string         `json:"instanceId"`
	Source           string         `json:"source"`
}

type key struct {
	RemoteJID bridge.JID `json:"remoteJid"`
	FromMe    bool       `json:"fromMe"`
	ID        string     `json:"id"`
}

// all returns the options of either version.
func (to toNumber) all() options {
	if to.Options != nil {
		return *to.Options
	}
	return to.options
}

func (to toNumber) recipient() (bridge.JID, error) {
	if to.Number == "" {
		return "", bridge.Invalid(`instance requires property "number"`)
	}
	return compat.Recipient(string(to.Number))
}

// quote returns the message that a send answers.
func (o options) quote() (quote client.Quote, err error) {
	if o.Quoted == nil || o.Quoted.Key.ID == "" {
		return quote, nil
	}
	quote.QuotedMsgID = o.Quoted.Key.ID
	if o.Quoted.Key.RemoteJID != "" {
		quote.QuotedChatJID, err = compat.Recipient(o.Quoted.Key.RemoteJID)
	}
	return quote, err
}

func (o options) mentions() (people []bridge.JID, err error) {
	if o.MentionsEveryone {
		return nil, bridge.Invalid("bridged does not mention everybody: name the members in mentioned")
	}
	for _, one := range o.Mentioned {
		jid, err := compat.Recipient(one)
		if err != nil {
			return nil, err
		}
		people = append(people, jid)
	}
	return people, nil
}

// maxDelay bounds how long a send types before.
const maxDelay = 20 * time.Second

// wait shows the account as typing for as long as the caller asks.
func (o options) wait(c *compat.Call, chat bridge.JID) error {
	if o.Delay <= 0 {
		return nil
	}
	delay := min(time.Duration(o.Delay)*time.Millisecond, maxDelay)
	state := bridge.TypingText
	if o.Presence == "recording" {
		state = bridge.TypingVoice
	}
	if err := c.API.ShowTyping(c.Context(), chat, state); err != nil {
		return err
	}
	if !bridge.Sleep(c.Context(), delay) {
		return c.Context().Err()
	}
	return nil
}

// send sends a message and answers it as Evolution does.
func (to toNumber) send(c *compat.Call, messageType string, content map[string]any, m client.Message) (compat.Answer, error) {
	sent, err := c.API.Send(c.Context(), m, c.Key())
	if err != nil {
		return compat.Answer{}, err
	}
	own, err := c.API.OwnToken(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	account := bridge.JID("")
	if own.Account != nil {
		account = own.Account.JID
	}
	return compat.Answer{Status: http.StatusCreated, Replay: sent.Replayed, Body: sentMessage{
		Key: key{sent.Chat, true, sent.ID}, Status: "PENDING", Message: content, MessageType: messageType, MessageTimestamp: sent.Timestamp.Unix(),
		InstanceID: instanceID(account), Source: "unknown",
	}}, nil
}

func sendText(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toNumber
		Text        *compat.Text `json:"text"`
		TextMessage struct {
			Text compat.Text `json:"text"`
		} `json:"textMessage"` // of the first version
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	chat, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	text := in.TextMessage.Text
	if in.Text != nil {
		text = *in.Text
	}
	if text == "" {
		return compat.Answer{}, bridge.Invalid(`instance requires property "text"`)
	}
	m := client.Text{To: chat, Text: string(text)}
	o := in.all()
	if m.Quote, err = o.quote(); err != nil {
		return compat.Answer{}, err
	}
	if m.Mentions, err = o.mentions(); err != nil {
		return compat.Answer{}, err
	}
	if err := o.wait(c, chat); err != nil {
		return compat.Answer{}, err
	}
	return in.send(c, "conversation", map[string]any{"conversation": string(text)}, m)
}
