package cloud

import (
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// outgoing is the body of a send, or of marking a message as read.
type outgoing struct {
	To            compat.Text `json:"to"`
	Recipient     compat.Text `json:"recipient"` // instead of To, in some clients
	RecipientType string      `json:"recipient_type"`
	Type          string      `json:"type"`
	Context       *struct {
		MessageID string `json:"message_id"`
	} `json:"context"`

	Status    string    `json:"status"`
	MessageID string    `json:"message_id"`
	Typing    *struct{} `json:"typing_indicator"`

	Text struct {
		Body    compat.Text  `json:"body"`
		Preview *compat.Flag `json:"preview_url"`
	} `json:"text"`
	Image       file         `json:"image"`
	Video       file         `json:"video"`
	Audio       file         `json:"audio"`
	Document    file         `json:"document"`
	Sticker     file         `json:"sticker"`
	Location    place        `json:"location"`
	Contacts    cards        `json:"contacts"`
	Reaction    reaction     `json:"reaction"`
	Interactive *interactive `json:"interactive"`
}

type place struct {
	Latitude  compat.Number `json:"latitude"`
	Longitude compat.Number `json:"longitude"`
	Name      compat.Text   `json:"name"`
	Address   compat.Text   `json:"address"`
}

type reaction struct {
	MessageID string `json:"message_id"`
	Emoji     string `json:"emoji"`
}

// send sends a message, or marks one as read.
func (d door) send(c *compat.Call) (compat.Answer, error) {
	var in outgoing
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if in.Status != "" {
		c.Fields = compat.Fields{"msgId": "message_id", "chatJid": "message_id"}
		return in.markRead(c)
	}
	c.Fields = fieldsOf(in.Type)
	sent, err := d.sendAs(c, &in)
	if err != nil {
		return compat.Answer{}, err
	}
	answer, err := compat.OK(object{
		"messaging_product": "whatsapp", "contacts": []any{object{"input": in.to(), "wa_id": contactID(in.to(), sent.Chat)}},
		"messages": []any{object{"id": messageRef{Chat: sent.Chat, ID: sent.ID}.messageID()}},
	})
	answer.Replay = sent.Replayed
	return answer, err
}

// sendAs sends what the type names.
func (d door) sendAs(c *compat.Call, in *outgoing) (client.Sent, error) {
	if in.Type == "template" {
		return client.Sent{}, bridge.Fail(noTemplate, "there are no templates: bridged sends texts at any time, so send the text itself")
	}
	if in.Type == "reaction" {
		ref, err := parseMessageID(in.Reaction.MessageID)
		if err != nil {
			return client.Sent{}, err
		}
		return c.API.Send(c.Context(), client.Reaction{Chat: ref.Chat, MsgID: ref.ID, Emoji: in.Reaction.Emoji}, c.Key())
	}
	chat, err := in.recipient(c)
	if err != nil {
		return client.Sent{}, err
	}
	quote, err := in.quote()
	if err != nil {
		return client.Sent{}, err
	}
	var message client.Message
	switch in.Type {
	case "", "text":
		message = client.Text{To: chat, Text: string(in.Text.Body), LinkPreview: (*bool)(in.Text.Preview), Quote: quote}
	case "location":
		message = client.Location{
			To: chat, Latitude: float64(in.Location.Latitude), Longitude: float64(in.Location.Longitude),
			Name: string(in.Location.Name), Address: string(in.Location.Address), Quote: quote,
		}
	case "contacts":
		contacts := client.Contacts{To: chat, Quote: quote}
		for _, one := range in.Contacts {
			contacts.Contacts = append(contacts.Contacts, one.written())
		}
		message = contacts
	case "interactive":
		return d.sendInteractive(c, in.Interactive, chat, quote)
	default:
		f, known := in.file()
		if !known {
			return client.Sent{}, bridge.Invalid("bridged does not send the type %q: send text, image, video, audio, document, sticker, location, contacts, reaction or interactive", bridge.Beginning(in.Type, 50))
		}
		return d.sendFile(c, f, bridge.MediaType(in.Type), chat, quote)
	}
	return c.API.Send(c.Context(), message, c.Key())
}

func (in *outgoing) file() (f file, known bool) {
	f, known = map[string]file{"image": in.Image, "video": in.Video, "audio": in.Audio, "document": in.Document, "sticker": in.Sticker}[in.Type]
	return f, known
}

// to returns the recipient as the caller wrote it.
func (in *outgoing) to() string {
	if in.To != "" {
		return string(in.To)
	}
	return string(in.Recipient)
}

// recipient returns the chat of a send. The digits of a hidden identity, which webhooks have
// where no number is known, are those of its chat.
func (in *outgoing) recipient(c *compat.Call) (bridge.JID, error) {
	to := in.to()
	group := groupOf(to)
	switch {
	case to == "":
		return "", bridge.Invalid("to is missing: a phone number with its country code")
	case in.RecipientType == "group" && group != "":
		return group, nil
	case in.RecipientType == "group" && !strings.Contains(to, "@"):
		to += "@" + bridge.ServerGroup
	}
	chat, err := compat.Recipient(to)
	if err != nil {
		return "", compat.In("to", err)
	}
	if chat.Server() != bridge.ServerUser || len(chat.User()) < shortestLID || strings.Contains(to, "@") {
		return chat, nil
	}
	hidden := bridge.JID(chat.User() + "@" + bridge.ServerLID)
	_, err = c.API.Chat(c.Context(), hidden)
	isHidden := err == nil
	if code := bridge.CodeOf(err); err != nil && code != bridge.CodeNotFound && code != bridge.CodeForbidden {
		return "", err
	}
	switch {
	case isHidden && group != "":
		return "", bridge.Invalid("to stands for a group and for a person: name the group with recipient_type group, or the person by JID")
	case isHidden:
		return hidden, nil
	case group != "":
		return group, nil
	}
	return chat, nil
}

// shortestLID is how many digits a hidden identity has at least; few phone numbers have more.
const shortestLID = 13

// quote returns the message that a send answers.
func (in *outgoing) quote() (client.Quote, error) {
	if in.Context == nil || in.Context.MessageID == "" {
		return client.Quote{}, nil
	}
	ref, err := parseMessageID(in.Context.MessageID)
	return client.Quote{QuotedChatJID: ref.Chat, QuotedMsgID: ref.ID}, err
}

// markRead marks a chat as read up to a message, and shows the account as typing where the
// caller asks for that, too.
func (in *outgoing) markRead(c *compat.Call) (compat.Answer, error) {
	if in.Status != "read" {
		return compat.Answer{}, bridge.Invalid("status can only be read")
	}
	ref, err := parseMessageID(in.MessageID)
	if err != nil {
		return compat.Answer{}, err
	}
	if err := c.API.MarkRead(c.Context(), ref.Chat, ref.ID, c.Key()); err != nil {
		return compat.Answer{}, err
	}
	if in.Typing != nil {
		if err := c.API.ShowTyping(c.Context(), ref.Chat, bridge.TypingText); err != nil {
			return compat.Answer{}, err
		}
	}
	return compat.OK(done)
}
