package evolution

import (
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// sendBase has the fields of all bodies of sends.
type sendBase struct {
	Number compat.Text   `json:"number"`
	Delay  compat.Number `json:"delay"` // milliseconds of typing before the send
	Quoted *struct {
		Key messageKey `json:"key"`
	} `json:"quoted"`
	MentionsEveryone compat.Flag  `json:"mentionsEveryOne"`
	Mentioned        compat.Texts `json:"mentioned"`
	Presence         compat.Text  `json:"presence"`
	LinkPreview      *compat.Flag `json:"linkPreview"`
}

func (to sendBase) recipient() (bridge.JID, error) {
	if to.Number == "" {
		return "", bridge.Invalid(`instance requires property "number"`)
	}
	chat, err := compat.Recipient(string(to.Number))
	return chat, compat.In("number", err)
}

// quote returns the quoted message.
func (to sendBase) quote() (quote client.Quote, err error) {
	if to.Quoted == nil || to.Quoted.Key.ID == "" {
		return quote, nil
	}
	quote.QuotedMsgID = string(to.Quoted.Key.ID)
	if to.Quoted.Key.RemoteJID != "" {
		quote.QuotedChatJID, err = compat.Recipient(string(to.Quoted.Key.RemoteJID))
	}
	return quote, compat.In("quoted.key.remoteJid", err)
}

// noMentions refuses mentions in a message without a text.
func (to sendBase) noMentions() error {
	if to.MentionsEveryone || len(to.Mentioned) > 0 {
		return bridge.Invalid("bridged mentions people in texts only: leave mentioned and mentionsEveryOne out here")
	}
	return nil
}

// maxDelay limits how long the account shows as typing before a send.
const maxDelay = 20 * time.Second

// wait shows the account as typing or recording for as long as the caller asks. In a new chat it only
// waits.
func (to sendBase) wait(c *compat.Call, chat bridge.JID, state bridge.TypingState) error {
	if to.Delay <= 0 {
		return nil
	}
	if to.Presence == "recording" {
		state = bridge.TypingVoice
	}
	if err := c.API.ShowTyping(c.Context(), chat, state); err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		return err
	}
	return c.Pause(delayOf(to.Delay))
}

func delayOf(milliseconds compat.Number) time.Duration {
	return time.Duration(min(float64(milliseconds), float64(maxDelay.Milliseconds()))) * time.Millisecond
}

// prepare returns the chat and the quoted message of a send, and shows the account as typing.
func (to sendBase) prepare(c *compat.Call, state bridge.TypingState) (chat bridge.JID, quote client.Quote, err error) {
	if chat, err = to.recipient(); err != nil {
		return "", quote, err
	}
	c.Recipient = chat
	if quote, err = to.quote(); err != nil {
		return "", quote, err
	}
	return chat, quote, to.wait(c, chat, state)
}

// accountOf returns the account, or "" if none is linked.
func accountOf(c *compat.Call) (bridge.JID, error) {
	account, err := c.Account()
	if account == nil {
		return "", err
	}
	return account.JID, err
}

// send sends a message and returns its record.
func send(c *compat.Call, what client.Message) (any, error) {
	m, err := c.Send(what, c.Key())
	return sentRecord(m), err
}

// sendTextBody is the body of [sendText].
type sendTextBody struct {
	sendBase
	Text compat.Text `json:"text"`
}

func sendText(c *compat.Call, in sendTextBody) (any, error) {
	if _, err := in.recipient(); err != nil {
		return nil, err
	}
	text := string(in.Text)
	if text == "" {
		return nil, bridge.Invalid(`instance requires property "text"`)
	}
	mentions, err := compat.Recipients("mentioned", in.Mentioned)
	if err != nil {
		return nil, err
	}
	chat, quote, err := in.prepare(c, bridge.TypingText)
	if err != nil {
		return nil, err
	}
	everybody := bool(in.MentionsEveryone) && chat.IsGroup() // n8n sets it in other chats, too
	return send(c, client.Text{To: chat, Text: text, Mentions: mentions, MentionAll: everybody, LinkPreview: (*bool)(in.LinkPreview), Quote: quote})
}

// sendLocationBody is the body of [sendLocation].
type sendLocationBody struct {
	sendBase
	Name      compat.Text    `json:"name"`
	Address   compat.Text    `json:"address"`
	Latitude  *compat.Number `json:"latitude"`
	Longitude *compat.Number `json:"longitude"`
}

func sendLocation(c *compat.Call, in sendLocationBody) (any, error) {
	if in.Latitude == nil || in.Longitude == nil {
		return nil, bridge.Invalid(`instance requires property "latitude" and "longitude"`)
	}
	chat, quote, err := in.prepare(c, bridge.TypingText)
	if err != nil {
		return nil, err
	}
	return send(c, client.Location{
		To: chat, Latitude: float64(*in.Latitude), Longitude: float64(*in.Longitude), Name: string(in.Name), Address: string(in.Address), Quote: quote,
	})
}

// contact is a contact to send. Its web address is ignored, because bridged's cards have none.
type contact struct {
	FullName     compat.Text `json:"fullName"`
	WUID         compat.Text `json:"wuid"`
	PhoneNumber  compat.Text `json:"phoneNumber"`
	Organization compat.Text `json:"organization"`
	Email        compat.Text `json:"email"`
}

// sendContactBody is the body of [sendContact].
type sendContactBody struct {
	sendBase
	Contacts []contact `json:"contact"`
}

func sendContact(c *compat.Call, in sendContactBody) (any, error) {
	var what client.Contacts
	for _, one := range in.Contacts {
		card, err := compat.Card("contact", bridge.ContactCard{
			DisplayName: string(one.FullName), PhoneDisplay: string(one.PhoneNumber), Email: string(one.Email), Organization: string(one.Organization),
		}, one.WUID)
		if err != nil {
			return nil, err
		}
		what.Contacts = append(what.Contacts, card)
	}
	if len(what.Contacts) == 0 {
		return nil, bridge.Invalid(`instance requires property "contact"`)
	}
	var err error
	if what.To, what.Quote, err = in.prepare(c, bridge.TypingText); err != nil {
		return nil, err
	}
	return send(c, what)
}

// sendPollBody is the body of [sendPoll].
type sendPollBody struct {
	sendBase
	Name            compat.Text    `json:"name"`
	SelectableCount *compat.Number `json:"selectableCount"`
	Values          []compat.Text  `json:"values"`
}

func sendPoll(c *compat.Call, in sendPollBody) (any, error) {
	if in.Name == "" || len(in.Values) == 0 {
		return nil, bridge.Invalid(`instance requires property "name" and "values"`)
	}
	what := client.Poll{Name: string(in.Name)}
	for _, value := range in.Values {
		what.Values = append(what.Values, string(value))
	}
	if in.SelectableCount != nil {
		what.SelectableCount = new(int(*in.SelectableCount))
	}
	var err error
	if what.To, what.Quote, err = in.prepare(c, bridge.TypingText); err != nil {
		return nil, err
	}
	return send(c, what)
}

// sendReactionBody is the body of [sendReaction].
type sendReactionBody struct {
	Key      messageKey  `json:"key"`
	Reaction compat.Text `json:"reaction"`
}

func sendReaction(c *compat.Call, in sendReactionBody) (any, error) {
	chat, id, err := in.Key.target()
	if err != nil {
		return nil, err
	}
	on := map[string]any{"remoteJid": chat, "fromMe": bool(in.Key.FromMe), "id": id, "participant": string(in.Key.Participant)}
	m, err := c.Send(client.Reaction{Chat: chat, MsgID: id, Emoji: string(in.Reaction)}, c.Key())
	return sentRecord(m).with(typeReaction, map[string]any{"key": on, "text": string(in.Reaction)}), err
}
