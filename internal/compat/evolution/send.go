package evolution

import (
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// toNumber is the part that all bodies of sends have.
type toNumber struct {
	Number compat.Text   `json:"number"`
	Delay  compat.Number `json:"delay"` // milliseconds of typing before the send
	Quoted *struct {
		Key namedKey `json:"key"`
	} `json:"quoted"`
	MentionsEveryone compat.Flag  `json:"mentionsEveryOne"`
	Mentioned        compat.Texts `json:"mentioned"`
	Presence         compat.Text  `json:"presence"`
	LinkPreview      *compat.Flag `json:"linkPreview"`
}

func (to toNumber) recipient() (bridge.JID, error) {
	if to.Number == "" {
		return "", bridge.Invalid(`instance requires property "number"`)
	}
	chat, err := compat.Recipient(string(to.Number))
	return chat, compat.In("number", err)
}

// quote returns the message that a send answers.
func (to toNumber) quote() (quote client.Quote, err error) {
	if to.Quoted == nil || to.Quoted.Key.ID == "" {
		return quote, nil
	}
	quote.QuotedMsgID = string(to.Quoted.Key.ID)
	if to.Quoted.Key.RemoteJID != "" {
		quote.QuotedChatJID, err = compat.Recipient(string(to.Quoted.Key.RemoteJID))
	}
	return quote, compat.In("quoted.key.remoteJid", err)
}

// mentions returns the people whom a text names.
func (to toNumber) mentions() (people []bridge.JID, err error) {
	for _, one := range to.Mentioned {
		jid, err := compat.Recipient(one)
		if err != nil {
			return nil, compat.In("mentioned", err)
		}
		people = append(people, jid)
	}
	return people, nil
}

// noMentions refuses mentions in what has no text.
func (to toNumber) noMentions() error {
	if to.MentionsEveryone || len(to.Mentioned) > 0 {
		return bridge.Invalid("bridged mentions people in texts only: leave mentioned and mentionsEveryOne out here")
	}
	return nil
}

// maxDelay bounds how long a send types before.
const maxDelay = 20 * time.Second

// wait shows the account as typing, or recording, for as long as the caller asks; in a new
// chat it only waits.
func (to toNumber) wait(c *compat.Call, chat bridge.JID, state bridge.TypingState) error {
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

// begin does what comes before every message: it reads whom it is for and what it answers,
// and types.
func (to toNumber) begin(c *compat.Call, state bridge.TypingState) (chat bridge.JID, quote client.Quote, err error) {
	if chat, err = to.recipient(); err != nil {
		return "", quote, err
	}
	c.Recipient = chat
	if quote, err = to.quote(); err != nil {
		return "", quote, err
	}
	return chat, quote, to.wait(c, chat, state)
}

// accountOf returns the account; empty where none is paired.
func accountOf(c *compat.Call) (bridge.JID, error) {
	own, err := c.API.OwnToken(c.Context())
	if err != nil || own.Account == nil {
		return "", err
	}
	return own.Account.JID, nil
}

// sendWith answers a message that do sends, as Evolution does. Nothing can fail once it is sent.
func sendWith(c *compat.Call, status int, do func() (client.Sent, error), record func(account bridge.JID, sent bridge.Message) Record) (compat.Answer, error) {
	account, err := accountOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	sent, err := do()
	if err != nil {
		return compat.Answer{}, err
	}
	answer := record(account, bridge.Message{Chat: sent.Chat, ID: sent.ID, FromMe: true, SenderJID: account, Timestamp: sent.Timestamp})
	answer.Status = "PENDING"
	return compat.Answer{Status: status, Replay: sent.Replayed, Body: answer}, nil
}

// showing returns the record of a message with a content.
func showing(content *bridge.Message) func(account bridge.JID, sent bridge.Message) Record {
	return func(account bridge.JID, sent bridge.Message) Record {
		m := *content
		m.Chat, m.ID, m.FromMe, m.SenderJID, m.Timestamp = sent.Chat, sent.ID, true, sent.SenderJID, sent.Timestamp
		return sentRecord(account, m)
	}
}

// send sends a message, whose content is answered.
func send(c *compat.Call, what client.Message, content bridge.Message) (compat.Answer, error) {
	return sendWith(c, http.StatusCreated, func() (client.Sent, error) { return c.API.Send(c.Context(), what, c.Key()) }, showing(&content))
}

// sendTextBody holds what [sendText] reads.
type sendTextBody struct {
	toNumber
	Text compat.Text `json:"text"`
}

func sendText(c *compat.Call, in sendTextBody) (compat.Answer, error) {
	if _, err := in.recipient(); err != nil {
		return compat.Answer{}, err
	}
	text := string(in.Text)
	if text == "" {
		return compat.Answer{}, bridge.Invalid(`instance requires property "text"`)
	}
	mentions, err := in.mentions()
	if err != nil {
		return compat.Answer{}, err
	}
	chat, quote, err := in.begin(c, bridge.TypingText)
	if err != nil {
		return compat.Answer{}, err
	}
	content := bridge.Message{MessageType: bridge.TypeText, Content: text}
	if len(mentions) > 0 {
		content.ContextInfo = &bridge.ContextInfo{MentionedJID: mentions}
	}
	everybody := bool(in.MentionsEveryone) && chat.IsGroup() // which n8n sets in other chats, too
	what := client.Text{To: chat, Text: text, Mentions: mentions, MentionAll: everybody, LinkPreview: (*bool)(in.LinkPreview), Quote: quote}
	return send(c, what, content)
}

// sendLocationBody holds what [sendLocation] reads.
type sendLocationBody struct {
	toNumber
	Name      compat.Text    `json:"name"`
	Address   compat.Text    `json:"address"`
	Latitude  *compat.Number `json:"latitude"`
	Longitude *compat.Number `json:"longitude"`
}

func sendLocation(c *compat.Call, in sendLocationBody) (compat.Answer, error) {
	if in.Latitude == nil || in.Longitude == nil {
		return compat.Answer{}, bridge.Invalid(`instance requires property "latitude" and "longitude"`)
	}
	chat, quote, err := in.begin(c, bridge.TypingText)
	if err != nil {
		return compat.Answer{}, err
	}
	place := bridge.Place{Latitude: float64(*in.Latitude), Longitude: float64(*in.Longitude), Name: string(in.Name), Address: string(in.Address)}
	what := client.Location{To: chat, Latitude: place.Latitude, Longitude: place.Longitude, Name: place.Name, Address: place.Address, Quote: quote}
	return send(c, what, bridge.Message{MessageType: "locationMessage", Parts: bridge.Parts{Location: &place}})
}

// contact is a contact to send. Its address in the web has no place in bridged's cards.
type contact struct {
	FullName     compat.Text `json:"fullName"`
	WUID         compat.Text `json:"wuid"`
	PhoneNumber  compat.Text `json:"phoneNumber"`
	Organization compat.Text `json:"organization"`
	Email        compat.Text `json:"email"`
}

// card returns a contact as bridged sends it.
func (p contact) card() (bridge.ContactCard, error) {
	card := bridge.ContactCard{
		DisplayName: string(p.FullName), PhoneDisplay: string(p.PhoneNumber), Email: string(p.Email), Organization: string(p.Organization),
	}
	written := string(p.WUID)
	if written == "" {
		written = card.PhoneDisplay
	}
	if written != "" {
		person, err := compat.Recipient(written)
		if err != nil || !person.IsPerson() {
			return card, bridge.Invalid("contact: %q is no phone number", bridge.Beginning(written, 50))
		}
		card.Phone = person.User()
	}
	return card, nil
}

// sendContactBody holds what [sendContact] reads.
type sendContactBody struct {
	toNumber
	Contacts []contact `json:"contact"`
}

func sendContact(c *compat.Call, in sendContactBody) (compat.Answer, error) {
	what, shown := client.Contacts{}, []bridge.SharedContact(nil)
	for _, one := range in.Contacts {
		card, err := one.card()
		if err != nil {
			return compat.Answer{}, err
		}
		what.Contacts, shown = append(what.Contacts, card), append(shown, bridge.SharedContact{DisplayName: card.DisplayName})
	}
	if len(shown) == 0 {
		return compat.Answer{}, bridge.Invalid(`instance requires property "contact"`)
	}
	var err error
	if what.To, what.Quote, err = in.begin(c, bridge.TypingText); err != nil {
		return compat.Answer{}, err
	}
	kind := "contactMessage"
	if len(shown) > 1 {
		kind = "contactsArrayMessage"
	}
	return send(c, what, bridge.Message{MessageType: kind, Parts: bridge.Parts{Contacts: shown}})
}

// sendPollBody holds what [sendPoll] reads.
type sendPollBody struct {
	toNumber
	Name            compat.Text    `json:"name"`
	SelectableCount *compat.Number `json:"selectableCount"`
	Values          []compat.Text  `json:"values"`
}

func sendPoll(c *compat.Call, in sendPollBody) (compat.Answer, error) {
	if in.Name == "" || len(in.Values) == 0 {
		return compat.Answer{}, bridge.Invalid(`instance requires property "name" and "values"`)
	}
	what, tally := client.Poll{Name: string(in.Name)}, bridge.PollTally{Name: string(in.Name), SelectableCount: 1}
	for _, value := range in.Values {
		what.Values, tally.Options = append(what.Values, string(value)), append(tally.Options, bridge.PollOption{Name: string(value)})
	}
	if in.SelectableCount != nil {
		what.SelectableCount = new(int(*in.SelectableCount))
		tally.SelectableCount = *what.SelectableCount
	}
	var err error
	if what.To, what.Quote, err = in.begin(c, bridge.TypingText); err != nil {
		return compat.Answer{}, err
	}
	return send(c, what, bridge.Message{MessageType: "pollCreationMessageV3", Poll: &tally})
}

// sendReactionBody holds what [sendReaction] reads.
type sendReactionBody struct {
	Key      namedKey    `json:"key"`
	Reaction compat.Text `json:"reaction"`
}

func sendReaction(c *compat.Call, in sendReactionBody) (compat.Answer, error) {
	chat, id, err := in.Key.target()
	if err != nil {
		return compat.Answer{}, err
	}
	on := map[string]any{"remoteJid": chat, "fromMe": bool(in.Key.FromMe), "id": id, "participant": string(in.Key.Participant)}
	return sendWith(c, http.StatusCreated, func() (client.Sent, error) {
		return c.API.Send(c.Context(), client.Reaction{Chat: chat, MsgID: id, Emoji: string(in.Reaction)}, c.Key())
	}, func(account bridge.JID, sent bridge.Message) Record {
		return sentRecord(account, sent).with(typeReaction, map[string]any{"key": on, "text": string(in.Reaction)})
	})
}
