package waha

import (
	"cmp"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/vcard"
)

// toChat has what all sends have.
type toChat struct {
	Session  string       `json:"session"`
	ChatID   compat.Text  `json:"chatId"`
	ReplyTo  compat.Text  `json:"reply_to"`
	Mentions compat.Texts `json:"mentions"`
	ID       string       `json:"id"` // chosen by the caller: the send can be repeated
}

// recipient returns the chat of a send.
func (to toChat) recipient() (bridge.JID, error) {
	if err := checkSession(to.Session); err != nil {
		return "", err
	}
	if to.ChatID == "" {
		return "", bridge.Invalid("chatId is missing: a phone number, or a chat such as 15551234567@c.us")
	}
	chat, err := compat.Recipient(string(to.ChatID))
	return chat, compat.In("chatId", err)
}

// begin returns the chat of a send, and the message that it answers. n8n sends an empty
// one for none.
func (to toChat) begin() (chat bridge.JID, quote client.Quote, err error) {
	if chat, err = to.recipient(); err != nil || to.ReplyTo == "" {
		return chat, quote, err
	}
	named, err := parseMessageID(string(to.ReplyTo))
	if err != nil {
		return "", quote, err
	}
	quote.QuotedChatJID, quote.QuotedMsgID, err = named.in(chat)
	return chat, quote, err
}

// mentioned returns the people whom a send mentions, and whether it mentions everybody.
func (to toChat) mentioned() (people []bridge.JID, all bool, err error) {
	for _, one := range to.Mentions {
		if one == "all" {
			all = true
			continue
		}
		jid, err := compat.Recipient(one)
		if err != nil {
			return nil, false, compat.In("mentions", err)
		}
		people = append(people, jid)
	}
	return people, all, nil
}

// noMentions refuses mentions in what has no text.
func (to toChat) noMentions() error {
	if len(to.Mentions) > 0 {
		return bridge.Invalid("bridged mentions people in texts only: leave mentions out here")
	}
	return nil
}

// key returns the idempotency key of a send, or "" if it has none.
func (to toChat) key(c *compat.Call) string {
	if key := c.Key(); key != "" {
		return key
	}
	return to.ID
}

// send sends a message, whose content is answered.
func (to toChat) send(c *compat.Call, status int, what client.Message, content bridge.Message) (compat.Answer, error) {
	return answerSent(c, status, &content, func() (client.Sent, error) { return c.API.Send(c.Context(), what, to.key(c)) })
}

// answerSent answers a message that do sends, as WAHA does. Nothing can fail once it is sent.
func answerSent(c *compat.Call, status int, content *bridge.Message, do func() (client.Sent, error)) (compat.Answer, error) {
	own, err := c.API.OwnToken(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	sent, err := do()
	if err != nil {
		return compat.Answer{}, err
	}
	m := *content
	m.Chat, m.ID, m.FromMe, m.Timestamp, m.Status = sent.Chat, sent.ID, true, sent.Timestamp, new(bridge.DeliveryPending)
	if own.Account != nil {
		m.SenderJID, m.PushName = own.Account.JID, own.Account.PushName
	}
	shown := messageOf(m, c.Base())
	shown.Source = "api"
	return compat.Answer{Status: status, Body: shown, Replay: sent.Replayed}, nil
}

func sendText(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		Text        compat.Text  `json:"text"`
		LinkPreview *compat.Flag `json:"linkPreview"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	return in.text(c, http.StatusCreated, string(in.Text), in.LinkPreview)
}

// sendTextByAddress sends what an address says, as old scripts have it.
func sendTextByAddress(c *compat.Call) (compat.Answer, error) {
	query := c.URL.Query()
	to := toChat{Session: query.Get("session"), ChatID: compat.Text(query.Get("phone"))}
	return to.text(c, http.StatusOK, query.Get("text"), nil)
}

func (to toChat) text(c *compat.Call, status int, text string, preview *compat.Flag) (compat.Answer, error) {
	chat, quote, err := to.begin()
	if err != nil {
		return compat.Answer{}, err
	}
	m := client.Text{To: chat, Text: text, LinkPreview: (*bool)(preview), Quote: quote}
	if m.Mentions, m.MentionAll, err = to.mentioned(); err != nil {
		return compat.Answer{}, err
	}
	return to.send(c, status, m, bridge.Message{MessageType: bridge.TypeText, Content: text})
}

// file is a file to send. What it says of its type is n8n's default, and often wrong.
type file struct {
	MimeType compat.Text `json:"mimetype"`
	FileName compat.Text `json:"filename"`
	URL      compat.Text `json:"url"`
}

// sendFile returns the route that sends a kind of file.
func sendFile(kind bridge.MediaType, messageType string) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		var in struct {
			toChat
			File    file        `json:"file"`
			Caption compat.Text `json:"caption"`
			Convert compat.Flag `json:"convert"`
		}
		if err := c.Decode(&in); err != nil {
			return compat.Answer{}, err
		}
		if err := in.noMentions(); err != nil {
			return compat.Answer{}, err
		}
		chat, quote, err := in.begin()
		if err != nil {
			return compat.Answer{}, err
		}
		caption := string(in.Caption)
		if kind == bridge.MediaAudio {
			caption = "" // voice notes have none
		}
		out := compat.Outgoing{
			Kind: kind, Address: string(in.File.URL), Caption: caption, Name: string(in.File.FileName), MimeType: string(in.File.MimeType),
			Voice: kind == bridge.MediaAudio, Convert: kind == bridge.MediaVideo && bool(in.Convert), Key: in.key(c),
		}
		content := bridge.Message{MessageType: messageType, Content: caption}
		return answerSent(c, http.StatusCreated, &content, func() (sent client.Sent, err error) {
			sent, content.Media, err = out.Send(c, chat, quote)
			return sent, err
		})
	}
}

func sendLocation(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		Latitude  *compat.Number `json:"latitude"`
		Longitude *compat.Number `json:"longitude"`
		Title     compat.Text    `json:"title"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if in.Latitude == nil || in.Longitude == nil {
		return compat.Answer{}, bridge.Invalid("latitude and longitude are required")
	}
	chat, quote, err := in.begin()
	if err != nil {
		return compat.Answer{}, err
	}
	at := bridge.Place{Latitude: float64(*in.Latitude), Longitude: float64(*in.Longitude), Name: string(in.Title)}
	what := client.Location{To: chat, Latitude: at.Latitude, Longitude: at.Longitude, Name: at.Name, Quote: quote}
	return in.send(c, http.StatusCreated, what, bridge.Message{MessageType: "locationMessage", Parts: bridge.Parts{Location: &at}})
}

func sendPoll(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		Poll struct {
			Name     compat.Text  `json:"name"`
			Options  compat.Texts `json:"options"`
			Multiple compat.Flag  `json:"multipleAnswers"`
		} `json:"poll"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	chat, quote, err := in.begin()
	if err != nil {
		return compat.Answer{}, err
	}
	count := 1
	if in.Poll.Multiple {
		count = 0
	}
	shown := &bridge.PollTally{Name: string(in.Poll.Name), SelectableCount: count}
	for _, option := range in.Poll.Options {
		shown.Options = append(shown.Options, bridge.PollOption{Name: option})
	}
	what := client.Poll{To: chat, Name: shown.Name, Values: in.Poll.Options, SelectableCount: &count, Quote: quote}
	return in.send(c, http.StatusCreated, what, bridge.Message{MessageType: "pollCreationMessageV3", Content: shown.Name, Poll: shown})
}

// contact is a contact to send: a card, or what it should say.
type contact struct {
	FullName     compat.Text `json:"fullName"`
	Organization compat.Text `json:"organization"`
	PhoneNumber  compat.Text `json:"phoneNumber"`
	WhatsAppID   compat.Text `json:"whatsappId"`
	VCard        compat.Text `json:"vcard"`
}

// card returns a contact as bridged sends it.
func (p contact) card() (bridge.ContactCard, error) {
	if p.VCard != "" {
		name := cmp.Or(string(p.FullName), vcard.NameIn(string(p.VCard)), "Contact")
		return bridge.ContactCard{DisplayName: name, VCard: string(p.VCard)}, nil
	}
	card := bridge.ContactCard{DisplayName: string(p.FullName), PhoneDisplay: string(p.PhoneNumber), Organization: string(p.Organization)}
	written := string(p.WhatsAppID)
	if written == "" {
		written = card.PhoneDisplay
	}
	if written != "" {
		person, err := compat.Recipient(written)
		if err != nil || !person.IsPerson() {
			return card, bridge.Invalid("contacts: %q is no phone number", bridge.Beginning(written, 50))
		}
		card.Phone = person.User()
	}
	return card, nil
}

func sendContacts(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		Contacts []contact `json:"contacts"`
		Misnamed []contact `json:"contactsId"` // by waha-mcp
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	chat, quote, err := in.begin()
	if err != nil {
		return compat.Answer{}, err
	}
	what, shown := client.Contacts{To: chat, Quote: quote}, bridge.Message{MessageType: "contactMessage"}
	for _, one := range append(in.Contacts, in.Misnamed...) {
		card, err := one.card()
		if err != nil {
			return compat.Answer{}, err
		}
		what.Contacts = append(what.Contacts, card)
		shown.Contacts = append(shown.Contacts, bridge.SharedContact{DisplayName: card.DisplayName, VCard: card.VCard})
	}
	if len(what.Contacts) == 0 {
		return compat.Answer{}, bridge.Invalid("contacts is missing: a list of contacts with fullName and phoneNumber, or with vcard")
	}
	return in.send(c, http.StatusCreated, what, shown)
}

func forward(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toChat
		MessageID compat.Text `json:"messageId"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	chat, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	named, err := parseMessageID(string(in.MessageID))
	if err != nil {
		return compat.Answer{}, err
	}
	from, id, err := named.in("")
	if err != nil {
		return compat.Answer{}, err
	}
	return in.send(c, http.StatusCreated, client.Forward{SourceChat: from, SourceMsgID: id, To: chat}, bridge.Message{IsForwarded: true})
}

func react(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Session   string      `json:"session"`
		MessageID compat.Text `json:"messageId"`
		Reaction  compat.Text `json:"reaction"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if err := checkSession(in.Session); err != nil {
		return compat.Answer{}, err
	}
	named, err := parseMessageID(string(in.MessageID))
	if err != nil {
		return compat.Answer{}, err
	}
	chat, id, err := named.in("")
	if err != nil {
		return compat.Answer{}, err
	}
	answer, err := answerSent(c, http.StatusOK, &bridge.Message{}, func() (client.Sent, error) {
		return c.API.Send(c.Context(), client.Reaction{Chat: chat, MsgID: id, Emoji: string(in.Reaction)}, c.Key())
	})
	if err == nil {
		answer.Body = map[string]any{"id": answer.Body.(Message).ID, "_data": nil}
	}
	return answer, err
}
