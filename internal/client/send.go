package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// Message is what can be sent: [Text], [File], [Location], [Poll], [Contacts],
// [Reaction] or [Forward].
type Message interface{ route() string }

// Quote names an earlier message to answer. Without a chat it is in the chat
// that the answer goes to.
type Quote struct {
	QuotedChatJID bridge.JID `json:"quotedChatJid,omitempty"`
	QuotedMsgID   string     `json:"quotedMsgId,omitempty"`
}

// Text is a text message.
type Text struct {
	To       bridge.JID   `json:"jid"`
	Text     string       `json:"text"`
	Mentions []bridge.JID `json:"mentions,omitempty"`
	Quote
}

// File is a file that the bridge fetches from a URL.
type File struct {
	To       bridge.JID       `json:"jid"`
	URL      string           `json:"url"`
	Type     bridge.MediaType `json:"type"`
	Caption  string           `json:"caption,omitempty"`
	FileName string           `json:"fileName,omitempty"`
	MimeType string           `json:"mimetype,omitempty"`
	PTT      bool             `json:"ptt,omitempty"`
	Quote
}

// Location is a place.
type Location struct {
	To        bridge.JID `json:"jid"`
	Latitude  float64    `json:"latitude"`
	Longitude float64    `json:"longitude"`
	Name      string     `json:"name,omitempty"`
	Address   string     `json:"address,omitempty"`
	Quote
}

// Poll is a poll. Without a count one option may be chosen, with 0 any number.
type Poll struct {
	To              bridge.JID `json:"jid"`
	Name            string     `json:"name"`
	Values          []string   `json:"values"`
	SelectableCount *int       `json:"selectableCount,omitempty"`
	Quote
}

// Contacts is one contact or several.
type Contacts struct {
	To       bridge.JID           `json:"jid"`
	Contacts []bridge.ContactCard `json:"contacts"`
	Quote
}

// Reaction sets the account's reaction on a message, or removes it with an
// empty emoji.
type Reaction struct {
	Chat  bridge.JID `json:"chatJid"`
	MsgID string     `json:"msgId"`
	Emoji string     `json:"emoji"`
}

// Forward sends a stored message on.
type Forward struct {
	SourceChat  bridge.JID `json:"sourceChatJid"`
	SourceMsgID string     `json:"sourceMsgId"`
	To          bridge.JID `json:"destJid"`
}

func (Text) route() string     { return "/api/messages/send" }
func (File) route() string     { return "/api/messages/send-media" }
func (Location) route() string { return "/api/messages/send-location" }
func (Poll) route() string     { return "/api/messages/send-poll" }
func (Contacts) route() string { return "/api/messages/send-contact" }
func (Reaction) route() string { return "/api/messages/react" }
func (Forward) route() string  { return "/api/messages/forward" }

// Sent is a message that the network accepted. Replayed reports that an earlier
// call with the same key had sent it.
type Sent struct {
	bridge.Sent
	Replayed bool
}

// Send sends a message. With a key, the call can be repeated until it is
// answered: the message is sent once. Without one (""), it cannot.
func (c *Client) Send(ctx context.Context, m Message, key string) (Sent, error) {
	return c.sendOnce(ctx, http.MethodPost, m.route(), m, key)
}

// Edit replaces the text or the caption of an own message. Mentions that are nil
// stay those that the text still names. The key is as that of Send.
func (c *Client) Edit(ctx context.Context, chat bridge.JID, id, text string, mentions []bridge.JID, key string) (Sent, error) {
	body := map[string]any{"text": text}
	if mentions != nil {
		body["mentions"] = mentions // an empty list is nobody
	}
	return c.sendOnce(ctx, http.MethodPatch, messagePath(chat, id), body, key)
}

// Delete deletes a message for everybody. The key is as that of Send.
func (c *Client) Delete(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.sendOnce(ctx, http.MethodDelete, messagePath(chat, id), nil, key)
}

func (c *Client) sendOnce(ctx context.Context, method, path string, body any, key string) (Sent, error) {
	resp, err := c.Do(ctx, method, path, body, keyed(key))
	if err != nil {
		return Sent{}, err
	}
	return decodeSent(resp)
}

// decodeSent reads the answer of a sending route.
func decodeSent(resp *http.Response) (sent Sent, err error) {
	defer resp.Body.Close()
	var answer struct {
		MsgID     string
		ChatJID   bridge.JID
		Timestamp bridge.Time
	}
	if err := decode(resp, &answer); err != nil {
		return sent, err
	}
	sent.Sent = bridge.Sent{ID: answer.MsgID, Chat: answer.ChatJID, Timestamp: answer.Timestamp}
	sent.Replayed = resp.Header.Get("Idempotency-Replayed") == "true"
	return sent, nil
}
