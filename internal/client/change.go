package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// messagePath returns the path of one message.
func messagePath(chat bridge.JID, id string) string {
	return "/api/chats/" + chat.Escaped() + "/messages/" + bridge.PathID(id)
}

// Edit replaces the text or the caption of an own message. Mentions that are nil
// stay those that the text still names. The key is as that of Send.
func (c *Client) Edit(ctx context.Context, chat bridge.JID, id, text string, mentions []bridge.JID, key string) (Sent, error) {
	body := struct {
		Text     string        `json:"text"`
		Mentions *[]bridge.JID `json:"mentions,omitempty"` // an empty list is nobody
	}{Text: text}
	if mentions != nil {
		body.Mentions = &mentions
	}
	return c.change(ctx, http.MethodPatch, messagePath(chat, id), body, key)
}

// Delete deletes a message for everybody. The key is as that of Send.
func (c *Client) Delete(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.change(ctx, http.MethodDelete, messagePath(chat, id), nil, key)
}

func (c *Client) change(ctx context.Context, method, path string, body any, key string) (Sent, error) {
	resp, err := c.Do(ctx, method, path, body, keyed(key))
	if err != nil {
		return Sent{}, err
	}
	return decodeSent(resp)
}

// keyed returns the header of a call that can be repeated; empty without a key.
func keyed(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return header
}

// MarkRead marks a chat as read up to the message with an id, or all of it where that is
// empty. Those who wrote are shown it.
func (c *Client) MarkRead(ctx context.Context, chat bridge.JID, upTo, key string) error {
	body := struct {
		MsgID string `json:"msgId,omitempty"`
	}{upTo}
	return c.act(ctx, chat, "read", body, key)
}

// Type shows the account as typing or recording in a chat for a while, or no longer.
func (c *Client) Type(ctx context.Context, chat bridge.JID, state bridge.TypingState, key string) error {
	body := struct {
		State bridge.TypingState `json:"state"`
	}{state}
	return c.act(ctx, chat, "typing", body, key)
}

func (c *Client) act(ctx context.Context, chat bridge.JID, what string, body any, key string) error {
	resp, err := c.Do(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/"+what, body, keyed(key))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
