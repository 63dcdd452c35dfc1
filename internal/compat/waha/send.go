package waha

import (
	"cmp"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/vcard"
)

// sendBase has the fields of all bodies of sends.
type sendBase struct {
	Session  string       `json:"session"`
	ChatID   compat.Text  `json:"chatId"`
	ReplyTo  compat.Text  `json:"reply_to"`
	Mentions compat.Texts `json:"mentions"`
	ID       string       `json:"id"` // idempotency key that the caller chose
}

// recipient returns the chat of a send.
func (to sendBase) recipient() (bridge.JID, error) {
	if err := checkSession(to.Session); err != nil {
		return "", err
	}
	if to.ChatID == "" {
		return "", bridge.Invalid("chatId is missing: a phone number, or a chat such as 15551234567@c.us")
	}
	chat, err := compat.Recipient(string(to.ChatID))
	return chat, compat.In("chatId", err)
}

// prepare returns the chat of a send and the quoted message. n8n sends an empty reply_to for none.
func (to sendBase) prepare() (chat bridge.JID, quote client.Quote, err error) {
	if chat, err = to.recipient(); err != nil || to.ReplyTo == "" {
		return chat, quote, err
	}
	quote.QuotedChatJID, quote.QuotedMsgID, err = messageIn(chat, string(to.ReplyTo))
	return chat, quote, err
}

// key returns the idempotency key of a send, or "" if it has none.
func (to sendBase) key(c *compat.Call) string { return cmp.Or(c.Key(), to.ID) }

// send sends a message and returns it.
func (to sendBase) send(c *compat.Call, what client.Message) (any, error) {
	m, err := c.Send(what, to.key(c))
	return sentMessage(c, m), err
}

// sentMessage returns the message that answers a send.
func sentMessage(c *compat.Call, m bridge.Message) Message {
	shown := messageOf(m, c.Base())
	shown.Source = "api"
	return shown
}

// sendTextBody is the body of [sendText].
type sendTextBody struct {
	sendBase
	Text        compat.Text  `json:"text"`
	LinkPreview *compat.Flag `json:"linkPreview"`
}

func sendText(c *compat.Call, in sendTextBody) (any, error) {
	chat, quote, err := in.prepare()
	if err != nil {
		return nil, err
	}
	m := client.Text{To: chat, Text: string(in.Text), LinkPreview: (*bool)(in.LinkPreview), Quote: quote}
	people := slices.DeleteFunc(slices.Clone(in.Mentions), func(one string) bool { return one == "all" })
	m.MentionAll = len(people) < len(in.Mentions)
	if m.Mentions, err = compat.Recipients("mentions", people); err != nil {
		return nil, err
	}
	return in.send(c, m)
}

// sendTextByQuery sends the text in the query. Old scripts use it.
func sendTextByQuery(c *compat.Call) (any, error) {
	query := c.URL.Query()
	to := sendBase{Session: query.Get("session"), ChatID: compat.Text(query.Get("phone"))}
	return sendText(c, sendTextBody{sendBase: to, Text: compat.Text(query.Get("text"))})
}

// file is a file to send. Its type is n8n's default and often wrong.
type file struct {
	MimeType compat.Text `json:"mimetype"`
	FileName compat.Text `json:"filename"`
	URL      compat.Text `json:"url"`
}

// sendFileBody is the body of [sendFile].
type sendFileBody struct {
	sendBase
	File     file        `json:"file"`
	Caption  compat.Text `json:"caption"`
	Convert  compat.Flag `json:"convert"`
	ViewOnce compat.Flag `json:"viewOnce"`
}

// sendFile returns the handler that sends files of a kind.
func sendFile(kind bridge.MediaType) compat.Handler {
	return compat.Reading(func(c *compat.Call, in sendFileBody) (any, error) {
		if len(in.Mentions) > 0 {
			return nil, bridge.Invalid("bridged mentions people in texts only: leave mentions out here")
		}
		chat, quote, err := in.prepare()
		if err != nil {
			return nil, err
		}
		out := compat.Outgoing{
			Kind: kind, Address: string(in.File.URL), Caption: string(in.Caption), Name: string(in.File.FileName), MimeType: string(in.File.MimeType),
			Voice: kind == bridge.MediaAudio, Convert: kind == bridge.MediaVideo && bool(in.Convert), ViewOnce: bool(in.ViewOnce), Key: in.key(c),
		}
		if kind == bridge.MediaAudio {
			out.Caption = "" // voice notes have none
		}
		m, err := out.Send(c, chat, quote)
		return sentMessage(c, m), err
	})
}

// sendLocationBody is the body of [sendLocation].
type sendLocationBody struct {
	sendBase
	Latitude  *compat.Number `json:"latitude"`
	Longitude *compat.Number `json:"longitude"`
	Title     compat.Text    `json:"title"`
}

func sendLocation(c *compat.Call, in sendLocationBody) (any, error) {
	if in.Latitude == nil || in.Longitude == nil {
		return nil, bridge.Invalid("latitude and longitude are required")
	}
	chat, quote, err := in.prepare()
	if err != nil {
		return nil, err
	}
	return in.send(c, client.Location{To: chat, Latitude: float64(*in.Latitude), Longitude: float64(*in.Longitude), Name: string(in.Title), Quote: quote})
}

// sendPollBody is the body of [sendPoll].
type sendPollBody struct {
	sendBase
	Poll struct {
		Name     compat.Text  `json:"name"`
		Options  compat.Texts `json:"options"`
		Multiple compat.Flag  `json:"multipleAnswers"`
	} `json:"poll"`
}

func sendPoll(c *compat.Call, in sendPollBody) (any, error) {
	chat, quote, err := in.prepare()
	if err != nil {
		return nil, err
	}
	count := 1
	if in.Poll.Multiple {
		count = 0
	}
	return in.send(c, client.Poll{To: chat, Name: string(in.Poll.Name), Values: in.Poll.Options, SelectableCount: &count, Quote: quote})
}

// contact is a contact to send, or its vCard.
type contact struct {
	FullName     compat.Text `json:"fullName"`
	Organization compat.Text `json:"organization"`
	PhoneNumber  compat.Text `json:"phoneNumber"`
	WhatsAppID   compat.Text `json:"whatsappId"`
	VCard        compat.Text `json:"vcard"`
}

// card returns the contact in bridged's form.
func (p contact) card() (bridge.ContactCard, error) {
	if p.VCard != "" {
		name := cmp.Or(string(p.FullName), vcard.NameIn(string(p.VCard)), "Contact")
		return bridge.ContactCard{DisplayName: name, VCard: string(p.VCard)}, nil
	}
	card := bridge.ContactCard{DisplayName: string(p.FullName), PhoneDisplay: string(p.PhoneNumber), Organization: string(p.Organization)}
	return compat.Card("contacts", card, p.WhatsAppID)
}

// sendContactsBody is the body of [sendContacts].
type sendContactsBody struct {
	sendBase
	Contacts   []contact `json:"contacts"`
	ContactsID []contact `json:"contactsId"` // waha-mcp's wrong name of contacts
}

func sendContacts(c *compat.Call, in sendContactsBody) (any, error) {
	chat, quote, err := in.prepare()
	if err != nil {
		return nil, err
	}
	what := client.Contacts{To: chat, Quote: quote}
	for _, one := range append(in.Contacts, in.ContactsID...) {
		card, err := one.card()
		if err != nil {
			return nil, err
		}
		what.Contacts = append(what.Contacts, card)
	}
	if len(what.Contacts) == 0 {
		return nil, bridge.Invalid("contacts is missing: a list of contacts with fullName and phoneNumber, or with vcard")
	}
	return in.send(c, what)
}

// forwardBody is the body of [forward].
type forwardBody struct {
	sendBase
	MessageID compat.Text `json:"messageId"`
}

func forward(c *compat.Call, in forwardBody) (any, error) {
	chat, err := in.recipient()
	if err != nil {
		return nil, err
	}
	from, id, err := messageIn("", string(in.MessageID))
	if err != nil {
		return nil, err
	}
	return in.send(c, client.Forward{SourceChat: from, SourceMsgID: id, To: chat})
}

// voteBody is the body of [vote]. The server's id of a poll, which only polls of channels need, is ignored.
type voteBody struct {
	sendBase
	Poll  compat.Text `json:"pollMessageId"`
	Votes []string    `json:"votes"`
}

func vote(c *compat.Call, in voteBody) (any, error) {
	chat, err := in.recipient()
	if err != nil {
		return nil, err
	}
	chat, id, err := messageIn(chat, string(in.Poll))
	if err != nil {
		return nil, err
	}
	m := bridge.Message{MessageType: "pollUpdateMessage"}
	err = c.Deliver(&m, func() (client.Sent, error) { return c.API.Vote(c.Context(), chat, id, in.Votes, c.Key()) })
	return sentMessage(c, m), err
}

// starBody is the body of [star].
type starBody struct {
	sendBase
	MessageID compat.Text `json:"messageId"`
	Star      compat.Flag `json:"star"`
}

// star stars a message, or removes the star.
func star(c *compat.Call, in starBody) (any, error) {
	chat, err := in.recipient()
	if err != nil {
		return nil, err
	}
	chat, id, err := messageIn(chat, string(in.MessageID))
	if err != nil {
		return nil, err
	}
	change := c.API.Unstar
	if in.Star {
		change = c.API.Star
	}
	sent, err := change(c.Context(), chat, id, c.Key())
	c.Replayed = sent.Replayed
	return map[string]any{}, err
}

// reactBody is the body of [react].
type reactBody struct {
	Session   string      `json:"session"`
	MessageID compat.Text `json:"messageId"`
	Reaction  compat.Text `json:"reaction"`
}

func react(c *compat.Call, in reactBody) (any, error) {
	if err := checkSession(in.Session); err != nil {
		return nil, err
	}
	chat, id, err := messageIn("", string(in.MessageID))
	if err != nil {
		return nil, err
	}
	m, err := c.Send(client.Reaction{Chat: chat, MsgID: id, Emoji: string(in.Reaction)}, c.Key())
	return map[string]any{"id": nameOf(m).String(), "_data": nil}, err
}
