package cloud

import (
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// outgoing is the body of a send or of a request that marks a message as read.
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
func (a adapter) send(c *compat.Call, in outgoing) (any, error) {
	if in.Status != "" {
		c.Fields = compat.Fields{"msgId": "message_id", "chatJid": "message_id"}
		return in.markRead(c)
	}
	c.Fields = fieldsOf(in.Type)
	sent, err := a.sendAs(c, &in)
	return object{
		"messaging_product": "whatsapp", "contacts": []any{object{"input": in.to(), "wa_id": contactID(in.to(), sent.Chat)}},
		"messages": []any{object{"id": messageRef{Chat: sent.Chat, ID: sent.ID}.messageID()}},
	}, err
}

// HistoryMark begins each private note with which a client shows messages of the past. It is invisible. A text
// with the mark is refused, so that no client can send the past to people once more.
const HistoryMark = "\u2063\u2064\u2063"

// isHistory reports whether the text of a message, or the caption of its file, has the mark of a note.
func (in *outgoing) isHistory() bool {
	f, _ := in.file()
	texts := string(in.Text.Body) + string(f.Caption)
	if in.Interactive != nil {
		texts += in.Interactive.Body.Text
	}
	return strings.Contains(texts, HistoryMark)
}

// sendAs sends a message of the type in the body.
func (a adapter) sendAs(c *compat.Call, in *outgoing) (m bridge.Message, err error) {
	if in.isHistory() {
		return m, bridge.Invalid("this is a note about a message of the past, which bridged wrote into your inbox: it is not sent again")
	}
	if in.Type == "template" {
		return m, bridge.Fail(noTemplate, "there are no templates: bridged sends texts at any time, so send the text itself")
	}
	if in.Type == "reaction" {
		ref, err := parseMessageID(in.Reaction.MessageID)
		if err != nil {
			return m, err
		}
		return c.Send(client.Reaction{Chat: ref.Chat, MsgID: ref.ID, Emoji: in.Reaction.Emoji}, c.Key())
	}
	chat, err := in.recipient(c)
	if err != nil {
		return m, err
	}
	quote, err := in.quote()
	if err != nil {
		return m, err
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
			contacts.Contacts = append(contacts.Contacts, one.vCard())
		}
		message = contacts
	case "interactive":
		return a.sendInteractive(c, in.Interactive, chat, quote)
	default:
		f, known := in.file()
		if !known {
			return m, bridge.Invalid("bridged does not send the type %q: send text, image, video, audio, document, sticker, location, contacts, reaction or interactive", bridge.Beginning(in.Type, 50))
		}
		return a.sendFile(c, f, bridge.MediaType(in.Type), chat, quote)
	}
	return c.Send(message, c.Key())
}

func (in *outgoing) file() (f file, known bool) {
	f, known = map[string]file{"image": in.Image, "video": in.Video, "audio": in.Audio, "document": in.Document, "sticker": in.Sticker}[in.Type]
	return f, known
}

// to returns the recipient in the caller's spelling.
func (in *outgoing) to() string {
	if in.To != "" {
		return string(in.To)
	}
	return string(in.Recipient)
}

// recipient returns the chat of a send. Webhooks have the digits of a LID if no number is known; such digits
// mean the chat of the LID.
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
	lid := bridge.JID(chat.User() + "@" + bridge.ServerLID)
	_, err = c.API.Chat(c.Context(), lid)
	isLID := err == nil
	if code := bridge.CodeOf(err); err != nil && code != bridge.CodeNotFound && code != bridge.CodeForbidden {
		return "", err
	}
	switch {
	case isLID && group != "":
		return "", bridge.Invalid("to can mean a group or a person: name the group with recipient_type group, or the person by JID")
	case isLID:
		return lid, nil
	case group != "":
		return group, nil
	}
	return chat, nil
}

// shortestLID is the smallest number of digits of a LID. Few phone numbers have more.
const shortestLID = 13

// quote returns the quoted message.
func (in *outgoing) quote() (client.Quote, error) {
	if in.Context == nil || in.Context.MessageID == "" {
		return client.Quote{}, nil
	}
	ref, err := parseMessageID(in.Context.MessageID)
	return client.Quote{QuotedChatJID: ref.Chat, QuotedMsgID: ref.ID}, err
}

// markRead marks a chat as read up to a message. If the caller asks for it, the account shows as typing, too.
func (in *outgoing) markRead(c *compat.Call) (any, error) {
	if in.Status != "read" {
		return nil, bridge.Invalid("status can only be read")
	}
	ref, err := parseMessageID(in.MessageID)
	if err != nil {
		return nil, err
	}
	if err := c.API.MarkRead(c.Context(), ref.Chat, ref.ID, c.Key()); err != nil {
		return nil, err
	}
	if in.Typing != nil {
		if err := c.API.ShowTyping(c.Context(), ref.Chat, bridge.TypingText); err != nil {
			return nil, err
		}
	}
	return done, nil
}
